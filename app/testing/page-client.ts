import type { BridgeFrame } from '../contract/bridge.ts';
import { contract } from '../contract/contract.ts';
import { connectContract, type ContractClient, type Port } from '../contract/port.ts';
import { shell } from '../contract/shell.ts';

/** What a browser holds once it opened the address. */
export interface SignedIn {
  readonly cookie: string;
  readonly key: string;
}

/** A page without a browser: signs in at a page server and speaks both schemas over its bridge. */
export interface PageClient {
  readonly session: string;
  readonly engine: ContractClient<typeof contract>;
  readonly shell: ContractClient<typeof shell>;
  post(frame: BridgeFrame): Promise<Response>;
  /** Ends the stream, and the session with it. */
  close(): void;
  /** Settles when the server ended the stream. */
  readonly ended: Promise<void>;
}

/** Uses the one-use code of an address. */
export async function signIn(address: string): Promise<SignedIn> {
  const { headers } = await fetch(address, { redirect: 'manual' });
  return { cookie: headers.get('set-cookie')!.split(';')[0]!, key: headers.get('location')!.split('#key=')[1]! };
}

export async function openPage(origin: string, { cookie, key }: SignedIn): Promise<PageClient> {
  const abort = new AbortController();
  const stream = await fetch(`${origin}/bridge?key=${key}`, { headers: { cookie }, signal: abort.signal });
  if (stream.status !== 200) throw new Error(`The bridge answered ${stream.status}: ${await stream.text()}`);
  const listeners = { shell: new Set<(value: unknown) => void>(), engine: new Set<(value: unknown) => void>() };
  let greeted: (session: string) => void = () => undefined;
  const hello = new Promise<string>((resolve) => { greeted = resolve; });
  const ended = read(stream.body!, (event, data) => {
    if (event === 'hello') greeted((data as { session: string }).session);
    if (event === 'value') for (const listener of listeners[(data as BridgeFrame).port]) listener((data as BridgeFrame).value);
  });
  const session = await hello;
  const post = (frame: BridgeFrame) => fetch(`${origin}/bridge?session=${session}`, {
    method: 'POST', headers: { cookie, origin, 'content-type': 'application/json' }, body: JSON.stringify(frame),
  });
  const port = (name: BridgeFrame['port']): Port => ({
    postMessage: (value) => void post({ port: name, value }),
    onMessage: (listener) => {
      listeners[name].add(listener);
      return () => listeners[name].delete(listener);
    },
  });
  return {
    session, post, ended,
    engine: connectContract(contract, port('engine')),
    shell: connectContract(shell, port('shell')),
    close: () => abort.abort(),
  };
}

async function read(body: ReadableStream<Uint8Array>, hear: (event: string, data: unknown) => void): Promise<void> {
  let text = '';
  try {
    for await (const chunk of body.pipeThrough(new TextDecoderStream())) {
      const frames = (text + chunk).split('\n\n');
      text = frames.pop()!;
      for (const frame of frames) {
        const [, event, data] = /^event: (\w+)\ndata: (.*)$/s.exec(frame) ?? [];
        if (event !== undefined) hear(event, JSON.parse(data!));
      }
    }
  } catch {
    // Ended from either side.
  }
}
