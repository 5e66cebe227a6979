import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { tempFolder, type TempFolder } from '../testing/temp.ts';
import { startWriter, type Writer, type WriterOptions } from '../testing/writer-client.ts';
import { openSettings } from '../testing/world.ts';
import type { EngineProcessMessage, EngineProcessSettings, Usage } from './engine-process.ts';
import { ShimClient } from './shim-client.ts';

export interface StageOptions {
  readonly writer?: Partial<WriterOptions>;
  readonly engine?: Partial<EngineProcessSettings>;
  /** Phone numbers that the owner allows besides those of the tests' settings. */
  readonly numbers?: readonly string[];
  /** A Mail folder that is there already and may be written to. */
  readonly mailDir?: string;
  /** Before the engine starts: what its folder holds already. */
  readonly prepare?: (writer: Writer, dataDir: string) => Promise<void>;
}

/** New stores, a writer process and an engine process; this process is only the client. */
export interface Stage extends AsyncDisposable {
  readonly folder: TempFolder;
  readonly writer: Writer;
  readonly mailIndex: string;
  readonly socketPath: string;
  /** Address of the page, where the engine was asked to serve one. */
  readonly page: string | null;
  /** Address of the endpoint over HTTP, where the engine was given a port. */
  readonly http: string | null;
  readonly dataDir: string;
  usage(): Promise<Usage>;
  client(command?: readonly [string, ...string[]]): ShimClient;
}

/** The heap of young objects is what makes an engine big; 2 MB are as fast (measured). */
const ENGINE_FLAGS = ['--max-semi-space-size=2'];

export async function openStage(options: StageOptions = {}): Promise<Stage> {
  const folder = tempFolder('bench');
  const [dataDir, mailDir, messagesDb] = [folder.at('data'), options.mailDir ?? folder.at('Mail', 'V10'), folder.at('Messages', 'chat.db')];
  const writer = await startWriter({ mailDir, messagesDb, accountsDb: folder.at('Accounts', 'Accounts4.sqlite'), ...options.writer });
  await writer.mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const senders = [...openSettings.senders, ...(options.numbers ?? []).map((value) => ({ kind: 'phone', value }))];
  writeFileSync(`${dataDir}/settings.json`, JSON.stringify({ ...openSettings, senders }));
  await options.prepare?.(writer, dataDir);
  const engine = await startEngineProcess({
    dataDir, mailDir, messagesDb, accountsDb: folder.at('Accounts', 'Accounts4.sqlite'), addressBookDir: folder.at('AddressBook'), trustLocalClients: true, ...options.engine,
  });
  const clients: ShimClient[] = [];
  return {
    folder, writer, dataDir,
    mailIndex: `${mailDir}/MailData/Envelope Index`,
    socketPath: engine.socketPath,
    page: engine.page,
    http: engine.http,
    usage: engine.usage,
    client(command) {
      const client = new ShimClient(engine.socketPath, command);
      clients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of clients) client.process.kill('SIGKILL');
      await engine.stop();
      await writer.stop();
      folder[Symbol.dispose]();
    },
  };
}

let bundled: Promise<string> | null = null;

/** The engine as it is shipped, one bundle: Node's reading of TypeScript alone would weigh 40 MB. */
function engineBundle(): Promise<string> {
  bundled ??= (async () => {
    const dir = join(import.meta.dirname, '../../.cache/bench');
    const input = { 'engine-process': join(import.meta.dirname, 'engine-process.ts'), 'search-worker': join(import.meta.dirname, '../search/worker.ts') };
    const bundle = await rolldown({ input, platform: 'node', external: ['better-sqlite3', 'better-sqlite3-multiple-ciphers'], resolve: { mainFields: ['module', 'main'] }, logLevel: 'silent' });
    await bundle.write({ dir, format: 'esm', entryFileNames: '[name].js', chunkFileNames: 'engine-[name].js' });
    await bundle.close();
    return join(dir, 'engine-process.js');
  })();
  return bundled;
}

async function startEngineProcess(settings: EngineProcessSettings) {
  const child = fork(await engineBundle(), [JSON.stringify(settings)], { execArgv: ENGINE_FLAGS, stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const first = await answer(child);
  if (!('ready' in first)) throw new Error(`The engine did not start: ${JSON.stringify(first)}`);
  return {
    socketPath: first.ready,
    page: first.page,
    http: first.http,
    async usage() {
      child.send('usage');
      const got = await answer(child);
      if (!('usage' in got)) throw new Error(`The engine failed: ${JSON.stringify(got)}`);
      return got.usage;
    },
    async stop() {
      if (child.exitCode !== null) return;
      const gone = once(child, 'exit');
      child.send('stop');
      await gone;
    },
  };
}

async function answer(child: ChildProcess): Promise<EngineProcessMessage> {
  const [message] = (await Promise.race([once(child, 'message'), once(child, 'exit').then(() => [{ failed: 'The engine ended.' }])])) as [EngineProcessMessage];
  return message;
}
