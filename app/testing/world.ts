import { mkdirSync, writeFileSync } from 'node:fs';
import { engineOf, type EngineSettings } from '../engine/host.ts';
import type { Engine, EngineOptions } from '../engine/engine.ts';
import { OsascriptStandIn } from './osascript-stand-in.ts';
import { systemClock, type Clock } from '../events/clock.ts';
import { HttpClient } from './http-client.ts';
import { RawClient } from './raw-client.ts';
import { TestCredentials } from './test-credentials.ts';
import { tempFolder, type TempFolder } from './temp.ts';
import { startWriter, type Writer, type WriterOptions } from './writer-client.ts';

export interface WorldOptions {
  /** Written as settings.json before the start; merged over: both types on, `example.org` and one number allowed. */
  readonly settings?: object;
  /** Approval is skipped unless false. */
  readonly trust?: boolean;
  readonly writer?: Partial<WriterOptions>;
  /** Whether Mail and Messages run; left out: it cannot be told. */
  readonly sourceRuns?: NonNullable<EngineOptions['sourceRuns']>;
  /** Listens over HTTP on any port, with the tokens of a test. */
  readonly http?: boolean;
  /** More of what a host says, such as a key for the search index. */
  readonly host?: Partial<EngineSettings>;
  /** Base64; the engine keeps what needs a key. Without it, as headless, nothing does. */
  readonly sealKey?: string;
  readonly edges?: Partial<Pick<EngineOptions, 'clock' | 'loopbackReceivers'>>;
  /** Start the engine at once (default true). */
  readonly start?: boolean;
}

/** Both stores with a live writer process, an engine in this process, and clients behind real shims. */
export interface World extends AsyncDisposable {
  readonly folder: TempFolder;
  readonly dataDir: string;
  readonly mailDir: string;
  readonly messagesDb: string;
  readonly writer: Writer;
  /** Account id of the iCloud account made at the start. */
  readonly account: string;
  /** In the place of osascript. */
  readonly osascript: OsascriptStandIn;
  readonly log: string[];
  readonly fatal: string[];
  readonly credentials: TestCredentials;
  engine: Engine;
  /** What a host says at the next start, besides the places. */
  host: Partial<EngineSettings>;
  startEngine(): Promise<Engine>;
  /** @param lenient what it is sent without a declaration is only noted */
  client(args?: readonly string[], lenient?: boolean): RawClient;
  /** @param token of the test's own, `test-` and anything; null: none */
  httpClient(token?: string | null): HttpClient;
  /** Does what the engine does each minute. */
  minute(): void;
}

export const NUMBER = '+15550101234';
export const openSettings = {
  version: 2,
  events: { 'mail.received': true, 'messages.received': true },
  ratePerHour: 10_000,
  senders: [
    { kind: 'domain', value: 'example.org', subdomains: true },
    { kind: 'phone', value: NUMBER },
  ],
};

export async function startWorld(options: WorldOptions = {}): Promise<World> {
  const folder = tempFolder();
  const [dataDir, mailDir, messagesDb] = [folder.at('data'), folder.at('Mail', 'V10'), folder.at('Messages', 'chat.db')];
  const writer = await startWriter({ mailDir, messagesDb, ...options.writer });
  const { result: account } = await writer.mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  writeFileSync(`${dataDir}/settings.json`, JSON.stringify({ ...openSettings, ...options.settings }));
  const clients: RawClient[] = [];
  const httpClients: HttpClient[] = [];
  const credentials = new TestCredentials();
  const minutely = new Set<() => void>();
  const clock: Clock = {
    ...systemClock,
    every(ms, work) {
      const cancel = systemClock.every(ms, work);
      if (ms !== 60_000) return cancel;
      minutely.add(work);
      return () => {
        minutely.delete(work);
        cancel();
      };
    },
  };
  const log: string[] = [];
  const fatal: string[] = [];
  const world: World = {
    folder, dataDir, mailDir, messagesDb, writer, account, log, fatal, credentials, osascript: new OsascriptStandIn(folder.at('osascript')),
    engine: undefined as unknown as Engine,
    host: options.host ?? {},
    async startEngine() {
      world.engine = engineOf(
        { dataDir, mailDir, messagesDb, accountsDb: folder.at('Accounts', 'Accounts4.sqlite'), addressBookDir: folder.at('AddressBook'), trustLocalClients: options.trust !== false, httpPort: options.http === true ? 0 : null, sealKey: options.sealKey, ...world.host },
        'serve', (line) => log.push(line), (sentence) => fatal.push(sentence),
        {
          // A test's own tokens beside those that the engine gave out.
          credentials: {
            credentialOf: (token) => credentials.credentialOf(token) ?? world.engine.policy.credentials.credentialOf(token),
            holds: (credential) => credentials.holds(credential) || world.engine.policy.credentials.holds(credential),
          },
          clock, osascript: world.osascript.path, ...(options.sourceRuns && { sourceRuns: options.sourceRuns }), ...options.edges,
        },
      );
      await world.engine.start();
      return world.engine;
    },
    client(args = [], lenient = false) {
      const client = new RawClient(world.engine.socketPath, { args, lenient });
      clients.push(client);
      return client;
    },
    minute() {
      for (const work of [...minutely]) work();
    },
    httpClient(token = 'test-client') {
      const client = new HttpClient(world.engine.http.state.url ?? '', token);
      httpClients.push(client);
      return client;
    },
    async [Symbol.asyncDispose]() {
      for (const client of httpClients) client.close();
      for (const client of clients) client.process.kill('SIGKILL');
      await world.engine?.stop().catch(() => undefined);
      await writer.stop().catch(() => undefined);
      folder[Symbol.dispose]();
    },
  };
  if (options.start !== false) await world.startEngine();
  return world;
}
