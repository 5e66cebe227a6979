import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createInterface } from 'node:readline';
import { RawClient } from '../raw-client.ts';
import { tempFolder } from '../temp.ts';
import { startWriter, type Writer } from '../writer-client.ts';
import { scenes } from './scenes.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const say = (line = '') => process.stdout.write(`${line}\n`);

/** How long one event may take, however many are asked for. */
const EVENT_LIMIT_MS = 30_000;

const USAGE = `Usage: npm run demo -- [--events N] [--ui PORT]

  --events N   end after N events, with 0 if every one of them arrived; without it until Ctrl-C
  --ui PORT    port of the page on 127.0.0.1; without it any that is free
`;

function parseArguments(argv: readonly string[]): { events: number | null; ui: number } | string {
  let events: number | null = null;
  let ui = 0;
  for (let i = 0; i < argv.length; i += 1) {
    const [name, joined] = argv[i]!.split('=', 2);
    const value = joined ?? argv[(i += 1)];
    if (!/^\d{1,5}$/.test(value ?? '')) return `${name} takes a whole number.`;
    if (name === '--events' && Number(value) > 0) events = Number(value);
    else if (name === '--ui') ui = Number(value);
    else return `Unknown option ${name}. There are --events N and --ui PORT; --help says more.`;
  }
  return { events, ui };
}

/** The engine as a user runs it: the built command, in its own process. */
async function startEngine(folder: ReturnType<typeof tempFolder>, ui: number) {
  // The page may wire other programs: in a home folder of the demo, never in yours.
  for (const found of ['.cursor', '.codex']) mkdirSync(folder.at('home', found), { recursive: true });
  const engine = spawn(process.execPath, [
    join(root, 'dist', 'belfry.js'), 'serve', '--data-dir', folder.at('data'), '--mail-dir', folder.at('Mail', 'V10'),
    '--messages-db', folder.at('Messages', 'chat.db'), '--accounts-db', folder.at('Accounts', 'Accounts4.sqlite'),
    '--address-book-dir', folder.at('AddressBook'), '--region', 'US', '--ui', String(ui), '--trust-local-clients',
  ], { stdio: ['ignore', 'pipe', 'pipe'], env: { ...process.env, HOME: folder.at('home'), XDG_CONFIG_HOME: '', CODEX_HOME: '', CLAUDE_CONFIG_DIR: '' } });
  let complaints = '';
  engine.stderr.on('data', (chunk: Buffer) => (complaints = `${complaints}${chunk.toString()}`.slice(-4000)));
  let socket = '';
  for await (const line of createInterface({ input: engine.stdout })) {
    if (line.startsWith('listening ')) socket = line.slice('listening '.length);
    if (line.startsWith('page ')) return { engine, socket, page: line.slice('page '.length) };
  }
  throw new Error(`The engine did not start. ${complaints}`);
}

async function command(folder: ReturnType<typeof tempFolder>, ...words: string[]): Promise<void> {
  const child = spawn(process.execPath, [join(root, 'dist', 'belfry.js'), '--data-dir', folder.at('data'), ...words], { stdio: ['ignore', 'ignore', 'inherit'] });
  const [code] = (await once(child, 'exit')) as [number];
  if (code !== 0) throw new Error(`"belfry ${words.join(' ')}" ended with ${code}`);
}

interface Told {
  readonly at: bigint;
  readonly text: string;
}

/** The other two ways of hearing, beside the events extension: a session with a channel, and a tool that waits. */
class OtherWays {
  readonly #channel: RawClient;
  readonly #waiting: RawClient;
  #pushes = 0;
  #wait: Promise<Told & { batch: string }>;

  private constructor(channel: RawClient, waiting: RawClient) {
    this.#channel = channel;
    this.#waiting = waiting;
    this.#wait = this.#ask();
  }
  static async open(socket: string): Promise<OtherWays> {
    const channel = new RawClient(socket, { args: ['--channel'] });
    await channel.initialize();
    const waiting = new RawClient(socket);
    await waiting.tool('watch_events', { event: 'mail.received', arguments: { from: ['ada@example.com'], domains: ['example.org'] } });
    await waiting.tool('watch_events', { event: 'messages.received', arguments: { from: ['+1 202 555 0143'] } });
    return new OtherWays(channel, waiting);
  }
  async #ask(confirm?: string): Promise<Told & { batch: string }> {
    for (;;) {
      const answered = this.#waiting.frames.length;
      const { structuredContent } = await this.#waiting.tool('wait_for_events', { timeoutSeconds: 50, ...(confirm !== undefined && { confirm }) });
      if (structuredContent.batch !== null) return { at: this.#waiting.frames.slice(answered).at(-1)!.at, text: '', batch: structuredContent.batch as string };
    }
  }
  /** Milliseconds from the commit until each of the two heard of the same arrival. */
  async heard(committed: bigint, wait: number): Promise<{ channel: number; waiting: number }> {
    const isPush = ({ message }: { message: Record<string, any> }) => message['method'] === 'notifications/claude/channel';
    const push = await this.#channel.until(isPush, this.#pushes, wait);
    this.#pushes = this.#channel.frames.indexOf(push) + 1;
    const { at, batch } = await this.#wait;
    this.#wait = this.#ask(batch);
    this.#wait.catch(() => undefined);
    return { channel: Number(push.at - committed) / 1e6, waiting: Number(at - committed) / 1e6 };
  }
  async end(): Promise<void> {
    await Promise.all([this.#channel.end(), this.#waiting.end()]);
  }
}

/** Follows the scenes: the writer commits, and each arrival that should ring is waited for, by each way of hearing. */
async function play(writer: Writer, client: RawClient, others: OtherWays, account: string, events: number | null): Promise<number[]> {
  const latencies: number[] = [];
  let told = 0;
  const more = () => events === null || latencies.length < events;
  for (let step = 0; more(); step += 1) {
    const scene = scenes[step % scenes.length]!;
    const committed = await scene.write(writer, account, step);
    if (!scene.rings) {
      await pause(150);
      if (client.events().length > latencies.length) throw new Error(`${scene.what} rang, and should not have.`);
      say(`  ${clock()}  ${'not sent'.padEnd(9)} ${scene.what.padEnd(44)} ${scene.why}`);
      continue;
    }
    const frame: Told = await client.until((each) => each.message['method'] === 'notifications/events/event', told, EVENT_LIMIT_MS);
    told = client.frames.indexOf(frame as never) + 1;
    const ms = Number(frame.at - committed) / 1e6;
    latencies.push(ms);
    const other = await others.heard(committed, EVENT_LIMIT_MS);
    say(`  ${clock()}  ${`${ms.toFixed(2)} ms`.padEnd(9)} ${scene.what.padEnd(44)} ${describe(frame.text)}`);
    say(`            the same by channel ${other.channel.toFixed(2)} ms, by a tool that waits ${other.waiting.toFixed(2)} ms`);
    if (more()) await pause(events === null ? 1500 : 250);
  }
  return latencies;
}

function describe(text: string): string {
  const { params } = JSON.parse(text) as { params: { name: string; data: { from: { address?: string; handle?: string; name: string | null } } } };
  const { from } = params.data;
  return `${params.name} from ${from.name ?? from.address ?? from.handle}`;
}

const clock = () => new Date().toTimeString().slice(0, 8);
const pause = (ms: number) => new Promise((resolve) => { setTimeout(resolve, ms); });

async function main(): Promise<number> {
  const argv = process.argv.slice(2);
  if (argv.includes('--help') || argv.includes('-h')) {
    process.stdout.write(USAGE);
    return 0;
  }
  const flags = parseArguments(argv);
  if (typeof flags === 'string') {
    process.stderr.write(`demo: ${flags}\n`);
    return 3;
  }
  using folder = tempFolder();
  const writer = await startWriter({ mailDir: folder.at('Mail', 'V10'), messagesDb: folder.at('Messages', 'chat.db'), addressBookDir: folder.at('AddressBook') });
  const { result: account } = await writer.mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  await writer.mail.addAccount({ description: 'Gmail', email: 'me@gmail.example', kind: 'gmail' });
  await writer.contacts.addContact({ first: 'Grace', last: 'Hopper', phones: ['(202) 555-0143'] });
  const { engine, socket, page } = await startEngine(folder, flags.ui);
  let latencies: number[] = [];
  let client: RawClient | null = null;
  let others: OtherWays | null = null;
  const stop = new Promise<never>((_, reject) => {
    process.once('SIGINT', () => reject(new Error('stopped')));
  });
  try {
    await command(folder, 'events', 'on', 'mail.received');
    await command(folder, 'events', 'on', 'messages.received');
    await command(folder, 'senders', 'add', 'ada@example.com', '@example.org', '+1 202 555 0143');
    await command(folder, 'settings', 'set', 'ratePerHour', '10000');
    client = new RawClient(socket);
    await client.stream('mail.received', { from: ['ada@example.com'], domains: ['example.org'] });
    await client.stream('messages.received', { from: ['+1 202 555 0143'] });
    others = await OtherWays.open(socket);
    const shim = relative(process.cwd(), join(root, 'dist', 'bin', 'belfry-mcp'));
    say('Belfry demo: copies of Mail\'s and Messages\' stores, a live writer, real clients behind the real helper.');
    say();
    say('To point Claude Code at this engine, from this folder:');
    say(`  claude mcp add --scope user --transport stdio belfry -- "$PWD/${shim}" --client=claude-code --channel --socket ${socket}`);
    say(`  claude mcp remove belfry --scope user      (afterwards: this engine ends with the demo)`);
    say();
    say('To watch it in a browser (the address works once):');
    say(`  ${page}`);
    say();
    say('Allowed here: ada@example.com, everyone at example.org, +1 202 555 0143. From commit to the client:');
    await Promise.race([
      play(writer, client, others, account, flags.events).then((all) => { latencies = all; }),
      stop,
    ]);
  } catch (error) {
    if ((error as Error).message !== 'stopped') {
      process.stderr.write(`demo: ${(error as Error).message}\n`);
      return 1;
    }
    latencies = client?.frames.length ? latencies : [];
  } finally {
    await client?.end();
    await others?.end();
    engine.kill('SIGTERM');
    if (engine.exitCode === null) await once(engine, 'exit');
    await writer.stop();
  }
  const sorted = latencies.toSorted((a, b) => a - b);
  if (sorted.length > 0) {
    say();
    say(`${sorted.length} events delivered, median ${sorted[Math.floor(sorted.length / 2)]!.toFixed(2)} ms, worst ${sorted.at(-1)!.toFixed(2)} ms from the commit to the last byte read by the client.`);
  }
  return flags.events !== null && sorted.length < flags.events ? 1 : 0;
}

process.exitCode = await main();
