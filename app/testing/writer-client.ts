import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import type { AddressBookStore } from './address-book-store.ts';
import type { MailStore } from './mail-store.ts';
import type { MessagesStore } from './messages-store.ts';
import type { Burst, BurstArrival, StoreName, WriterOptions, WriterReply } from './writer-protocol.ts';

export type { Burst, StoreName, WriterOptions } from './writer-protocol.ts';

export interface Committed<T> {
  readonly result: T;
  /** Monotonic ns (`process.hrtime.bigint()`, one clock for all processes) just before the COMMIT. */
  readonly committedAt: bigint;
}

/** Every operation of a store, done in the writer. */
export type Remote<S> = {
  readonly [K in keyof S as S[K] extends (...args: never[]) => unknown ? K : never]: S[K] extends (...args: infer A) => infer R
    ? (...args: A) => Promise<Committed<R>>
    : never;
};

export interface Writer extends AsyncDisposable {
  readonly pid: number;
  /** `op` is `mail.<method>`, `messages.<method>`, `contacts.<method>`, `store.<name>`; args are the method's. */
  call<T = unknown>(op: string, args?: readonly unknown[]): Promise<Committed<T>>;
  readonly mail: Remote<MailStore>;
  readonly messages: Remote<MessagesStore>;
  readonly contacts: Remote<AddressBookStore>;
  /** Surgery and raw statements on an open store. */
  readonly store: {
    checkpointRestart(store: StoreName): Promise<Committed<boolean>>;
    checkpointTruncate(store: StoreName): Promise<Committed<boolean>>;
    recreateWal(store: StoreName, force?: boolean): Promise<Committed<void>>;
    close(store: StoreName): Promise<Committed<void>>;
    reopen(store: StoreName): Promise<Committed<void>>;
    exec(store: StoreName, sql: string): Promise<Committed<void>>;
    query<R = Record<string, unknown>>(store: StoreName, sql: string, ...values: unknown[]): Promise<Committed<R[]>>;
    holdWriteLock(store: StoreName, ms: number): Promise<Committed<void>>;
    holdExclusive(store: StoreName): Promise<Committed<void>>;
    releaseExclusive(store: StoreName): Promise<Committed<void>>;
  };
  /** n arrivals at a steady rate, made by the writer alone. */
  burst(request: Burst): Promise<{ rowid: number; committedAt: bigint }[]>;
  /** SIGKILL: nothing is closed, the WAL stays as it is. */
  kill(): Promise<void>;
  /** Closes the stores and ends. */
  stop(): Promise<void>;
}

/** Starts the writer and waits until its stores are open. */
export async function startWriter(options: WriterOptions): Promise<Writer> {
  const child = fork(fileURLToPath(new URL('writer.ts', import.meta.url)), [JSON.stringify(options)], {
    serialization: 'advanced',
    // A test runner's own loader flags do not concern the writer.
    execArgv: [],
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
  });
  let complaint = '';
  child.stderr?.on('data', (chunk: Buffer) => (complaint = `${complaint}${chunk.toString()}`.slice(-4000)));
  const waiting = new Map<number, { done: (reply: WriterReply) => void; failed: (error: Error) => void }>();
  const gone = (): void => {
    for (const { failed } of waiting.values()) failed(new Error(`The writer ended. ${complaint}`));
    waiting.clear();
  };
  child.on('exit', gone);
  child.on('message', (reply: WriterReply) => {
    waiting.get(reply.id)?.done(reply);
    waiting.delete(reply.id);
  });
  const answerTo = (id: number): Promise<WriterReply> => new Promise((done, failed) => waiting.set(id, { done, failed }));
  await answerTo(0);

  let last = 0;
  const call = async <T>(op: string, args: readonly unknown[] = []): Promise<Committed<T>> => {
    if (!child.connected) throw new Error('The writer has ended.');
    last += 1;
    const reply = answerTo(last);
    child.send({ id: last, op, args });
    const got = await reply;
    if (!got.ok) throw Object.assign(new Error(got.error), got.code === undefined ? {} : { code: got.code });
    return { result: got.result as T, committedAt: BigInt(got.committedAt) };
  };
  const stop = (): Promise<void> => ended(child, () => child.send({ id: 0, op: 'stop', args: [] }));
  return {
    pid: child.pid ?? 0,
    call,
    mail: remote<Remote<MailStore>>('mail', call),
    messages: remote<Remote<MessagesStore>>('messages', call),
    contacts: remote<Remote<AddressBookStore>>('contacts', call),
    store: remote<Writer['store']>('store', call),
    burst: async (request) =>
      (await call<BurstArrival[]>('burst', [request])).result.map((arrival) => ({ rowid: arrival.rowid, committedAt: BigInt(arrival.committedAt) })),
    kill: () => ended(child, () => child.kill('SIGKILL')),
    stop,
    [Symbol.asyncDispose]: stop,
  };
}

function remote<T extends object>(room: string, call: (op: string, args: readonly unknown[]) => Promise<unknown>): T {
  return new Proxy({} as T, {
    // Not a promise: `await writer.mail` must not call an operation named `then`.
    get: (_target, name) => (typeof name !== 'string' || name === 'then' ? undefined : (...args: unknown[]) => call(`${room}.${name}`, args)),
  });
}

async function ended(child: ChildProcess, act: () => void): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exit = once(child, 'exit');
  act();
  await exit;
}
