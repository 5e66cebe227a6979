import { create } from 'zustand';
import type { Bridge } from '../../app/contract/bridge.ts';
import { contract, type Caller } from '../../app/contract/contract.ts';
import { connectContract, ContractError, type ContractClient } from '../../app/contract/port.ts';
import type { Slices } from '../../app/contract/values.ts';

interface EngineState {
  /** The last values known: null before the first snapshot, kept while the engine is away. */
  readonly slices: Slices | null;
  /** No engine answers now; what is shown is old and drawn greyed as "Starting...". */
  readonly away: boolean;
}

export const useEngine = create<EngineState>()(() => ({ slices: null, away: true }));

type EngineClient = ContractClient<typeof contract>;
let client: EngineClient | null = null;
const attached = new Map<(client: EngineClient) => (() => void) | void, () => void>();

/** Draws from the engines that the bridge gives, one after the other. Returns the way to stop. */
export function connectEngine(bridge: Bridge): () => void {
  let stop = () => {};
  const stopBridge = bridge.onEngine((port) => {
    stop();
    stop = port === null ? () => {} : start(connectContract(contract, port));
  });
  return () => {
    stopBridge();
    stop();
  };
}

function start(next: EngineClient): () => void {
  // Slices told before the snapshot arrives are at least as new as the snapshot's.
  let early: Partial<Slices> | null = {};
  client = next;
  next.on('changed', (changed) => {
    const known = definedOnly(changed);
    if (early) Object.assign(early, known);
    else useEngine.setState(({ slices }) => ({ slices: slices && { ...slices, ...known } }));
  });
  next.call.app.snapshot({}).then(
    (slices) => {
      if (client !== next) return;
      useEngine.setState({ slices: { ...slices, ...early }, away: false });
      early = null;
    },
    // Closed, or a value that does not fit: the page stays at "Starting..." until the next engine.
    () => undefined,
  );
  for (const begin of attached.keys()) attached.set(begin, begin(next) ?? (() => {}));
  return () => {
    for (const [begin, end] of attached) {
      end();
      attached.set(begin, () => {});
    }
    next.close();
    if (client === next) {
      client = null;
      useEngine.setState({ away: true });
    }
  };
}

/**
 * Does something with each engine while it is there: now, and again with the next one. What `begin` returns ends it.
 * Returns the way to stop for good.
 */
export function withEngine(begin: (client: EngineClient) => (() => void) | void): () => void {
  attached.set(begin, (client && begin(client)) ?? (() => {}));
  return () => {
    attached.get(begin)?.();
    attached.delete(begin);
  };
}

/** The engine's calls; while no engine is there they fail with a sentence. */
export const engine: Caller = Object.fromEntries(Object.entries(contract.calls).map(([group, calls]) => [
  group,
  Object.fromEntries(Object.keys(calls).map((name) => [name, (params: unknown) => {
    if (!client) return Promise.reject(new ContractError('closed', 'Belfry is starting. Try again in a moment.'));
    const groups = client.call as unknown as Record<string, Record<string, (params: unknown) => Promise<unknown>>>;
    return groups[group]![name]!(params);
  }])),
])) as unknown as Caller;

function definedOnly(changed: { readonly [K in keyof Slices]?: Slices[K] | undefined }): Partial<Slices> {
  return Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined)) as Partial<Slices>;
}
