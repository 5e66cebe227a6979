import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { AddressBookStore } from './address-book-store.ts';
import { MailStore } from './mail-store.ts';
import { MessagesStore } from './messages-store.ts';
import type { SqliteStore } from './sqlite-store.ts';
import { checkpointRestart, checkpointTruncate, recreateWal } from './store-surgery.ts';
import type { Burst, BurstArrival, WriterOptions, WriterReply, WriterRequest } from './writer-protocol.ts';

/**
 * The process that writes as Mail and Messages do: other process, databases kept open, WAL. Started by `writer-client.ts`
 * with its options as JSON in the first argument; speaks over IPC.
 */
const options = JSON.parse(process.argv[2] ?? '{}') as WriterOptions;
const storeOptions = {
  synchronous: options.synchronous ?? 'NORMAL',
  ...(options.walAutocheckpoint === undefined ? {} : { walAutocheckpoint: options.walAutocheckpoint }),
} as const;

const mail = options.mailDir === undefined ? undefined : openMail(options.mailDir);
const messages = options.messagesDb === undefined ? undefined : openMessages(options.messagesDb);
const contacts = options.addressBookDir === undefined ? undefined : AddressBookStore.create(options.addressBookDir, storeOptions);
function openMail(dir: string): MailStore {
  const shared = { ...storeOptions, ...(options.accountsDb === undefined ? {} : { accountsDb: options.accountsDb }) };
  if (existsSync(join(dir, 'MailData', 'Envelope Index'))) return MailStore.open(dir, shared);
  return MailStore.create(dir, { ...shared, ...(options.mailVariant === undefined ? {} : { variant: options.mailVariant }) });
}

function openMessages(path: string): MessagesStore {
  if (existsSync(path)) return MessagesStore.open(path, storeOptions);
  return MessagesStore.create(path, { ...storeOptions, ...(options.messagesColumns === undefined ? {} : { columns: options.messagesColumns }) });
}

function storeNamed(name: unknown): SqliteStore {
  const store = name === 'mail' ? mail : name === 'messages' ? messages : undefined;
  if (store === undefined) throw new Error(`The writer has no store ${String(name)}.`);
  return store;
}

type Outcome = { result: unknown; committedAt: bigint };

/** Things done to a whole store: `store.<name>`, first argument `mail` or `messages`. */
const storeOps: Record<string, (store: SqliteStore, ...args: never[]) => unknown> = {
  checkpointRestart: (store) => checkpointRestart(store.db),
  checkpointTruncate: (store) => checkpointTruncate(store.db),
  recreateWal: (store, force: boolean) => recreateWal(store, force),
  close: (store) => store.close(),
  reopen: (store) => store.reopen(),
  /** Any statements, one transaction. */
  exec: (store, sql: string) => store.transaction(() => void store.db.exec(sql)),
  query: (store, sql: string, ...values: never[]) => store.all(sql, ...values),
  /** A write transaction that is rolled back after `ms`: the lock is held meanwhile. Call nothing else on that store then. */
  holdWriteLock: async (store, ms: number) => {
    store.db.exec('BEGIN IMMEDIATE');
    await new Promise((done) => setTimeout(done, ms));
    store.db.exec('ROLLBACK');
  },
  /** Exclusive from the answer on: readers that open or read get SQLITE_BUSY, as during recovery. Fails while another connection is open. */
  holdExclusive: (store) => {
    store.reopen();
    try {
      store.db.pragma('busy_timeout = 0');
      store.db.pragma('locking_mode = EXCLUSIVE');
      store.db.exec('BEGIN EXCLUSIVE');
    } catch (error) {
      store.reopen();
      throw error;
    }
  },
  /** Ends what `holdExclusive` began. */
  releaseExclusive: (store) => {
    store.db.exec('ROLLBACK');
    store.reopen();
  },
};

async function burst(request: Burst): Promise<BurstArrival[]> {
  const arrivals: BurstArrival[] = [];
  const step = 1000 / request.perSecond;
  const senders = request.senders ?? [];
  const start = performance.now();
  for (let index = 0; index < request.n; index += 1) {
    const due = start + index * step;
    // A timer's grain is 1 ms: the rest is waited for in turns of the event loop.
    while (performance.now() < due) {
      const left = due - performance.now();
      await new Promise<void>((done) => (left > 2 ? void setTimeout(done, left - 1.5) : void setImmediate(done)));
    }
    const sender = senders.length === 0 ? undefined : senders[index % senders.length];
    if (request.store === 'mail') {
      const store = storeNamed('mail') as MailStore;
      const rowid = store.arrive({ file: false, subject: `Burst ${index}`, ...request.like, ...(sender === undefined ? {} : { from: { address: sender } }) });
      arrivals.push({ rowid, committedAt: String(store.committedAt) });
    } else {
      const store = storeNamed('messages') as MessagesStore;
      const rowid = store.arrive({ ...request.like, ...(sender === undefined ? {} : { from: sender }) });
      arrivals.push({ rowid, committedAt: String(store.committedAt) });
    }
  }
  return arrivals;
}

async function perform(op: string, args: readonly unknown[]): Promise<Outcome> {
  if (op === 'ping') return { result: process.pid, committedAt: 0n };
  if (op === 'burst') {
    const result = await burst(args[0] as Burst);
    return { result, committedAt: BigInt(result.at(-1)?.committedAt ?? 0) };
  }
  const [room = '', name = ''] = op.split('.');
  if (room === 'store') {
    const run = storeOps[name];
    if (run === undefined) throw new Error(`No operation ${op}.`);
    const store = storeNamed(args[0]);
    return { result: await run(store, ...(args.slice(1) as never[])), committedAt: store.committedAt };
  }
  const target: unknown = { mail, messages, contacts }[room];
  if (target === undefined) throw new Error(`The writer has no store ${room}.`);
  const method = (target as Record<string, unknown>)[name];
  if (typeof method !== 'function') throw new Error(`No operation ${op}.`);
  const result: unknown = Reflect.apply(method, target, args);
  return { result: sendable(result), committedAt: (target as { committedAt: bigint }).committedAt };
}

function sendable(result: unknown): unknown {
  return typeof result === 'function' ? undefined : result;
}

async function answer(request: WriterRequest): Promise<void> {
  let reply: WriterReply;
  try {
    const { result, committedAt } = await perform(request.op, request.args);
    reply = { id: request.id, ok: true, result, committedAt: String(committedAt) };
  } catch (error) {
    const code = (error as { code?: string }).code;
    reply = { id: request.id, ok: false, error: error instanceof Error ? error.message : String(error), ...(code === undefined ? {} : { code }) };
  }
  process.send?.(reply);
}

function stop(): void {
  for (const store of [mail, messages]) if (store?.isOpen === true) store.close();
  contacts?.close();
  process.disconnect?.();
}

process.on('message', (request: WriterRequest) => {
  if (request.op === 'stop') stop();
  else void answer(request);
});
// The parent went away.
process.on('disconnect', () => process.exit(0));
process.send?.({ id: 0, ok: true, result: process.pid, committedAt: '0' } satisfies WriterReply);
