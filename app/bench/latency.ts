import Database from 'better-sqlite3';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { median, msBetween, percentile, timed, worst } from './samples.ts';
import { openStage, type Stage, type StageOptions } from './stage.ts';
import type { Figure } from './table.ts';

const ARRIVALS = 1000;
const PER_SECOND = 50;
const SENDER = 'ann@example.org';
/** Each writes once a second: all that one person writes within 5 s is compared for twins (ruling 6). */
const PEOPLE = Array.from({ length: 50 }, (_, index) => `+1555010${1000 + index}`);
type Arrival = { readonly rowid: number; readonly committedAt: bigint };

/** From the stamp before the writer's COMMIT to the last byte of the notification. */
export async function latency(): Promise<Figure[]> {
  const normal = await mailRun({}, ARRIVALS, PER_SECOND, true);
  const full = await mailRun({ writer: { synchronous: 'FULL' } }, ARRIVALS, PER_SECOND, false);
  const deaf = await mailRun({ engine: { deaf: true } }, 300, 25, false);
  const messages = await messagesRun();
  return [
    {
      figure: `mail: COMMIT to last byte read behind the shim, ${ARRIVALS} arrivals`,
      measured: [
        { what: 'median', value: median(normal.ms), unit: 'ms', atMost: 1 }, { what: 'p99', value: percentile(normal.ms, 0.99), unit: 'ms', atMost: 8 },
        { what: 'sooner', value: median(normal.pollMs) / median(normal.ms), unit: 'times', atLeast: 400 }, { what: 'lost', value: ARRIVALS - normal.ms.length, unit: '', atMost: 0 },
      ],
      against: `\`ROWID >\` poll each second: median ${median(normal.pollMs).toFixed(0)} ms`,
      samples: { ms: normal.ms, pollMs: normal.pollMs },
    },
    {
      figure: `the same, the writer at synchronous=FULL`,
      measured: [
        { what: 'median', value: median(full.ms), unit: 'ms', atMost: 2 }, { what: 'p99', value: percentile(full.ms, 0.99), unit: 'ms' }, { what: 'lost', value: ARRIVALS - full.ms.length, unit: '', atMost: 0 },
      ],
      against: `a COMMIT at FULL alone, on this disk: median ${median(full.commitMs).toFixed(2)} ms, p99 ${percentile(full.commitMs, 0.99).toFixed(1)} ms`,
      samples: { ms: full.ms, commitMs: full.commitMs },
    },
    {
      figure: 'the same, every file watcher disabled, 300 arrivals',
      measured: [{ what: 'worst', value: worst(deaf.ms), unit: 'ms', atMost: 300 }, { what: 'median', value: median(deaf.ms), unit: 'ms' }, { what: 'lost', value: 300 - deaf.ms.length, unit: '', atMost: 0 }],
      samples: { ms: deaf.ms },
    },
    {
      figure: `messages: the same, 500 arrivals from ${PEOPLE.length} people`,
      measured: [{ what: 'median', value: median(messages), unit: 'ms', atMost: 1 }, { what: 'p99', value: percentile(messages, 0.99), unit: 'ms', atMost: 8 }, { what: 'lost', value: 500 - messages.length, unit: '', atMost: 0 }],
      why: "A message is more pages to commit than a mail (Apple's triggers, two joins) and three more look-ups to judge (chat, its members, a twin).",
      samples: { ms: messages },
    },
  ];
}

async function mailRun(options: StageOptions, n: number, perSecond: number, polled: boolean): Promise<{ ms: number[]; pollMs: number[]; commitMs: number[] }> {
  await using stage = await openStage(options);
  const client = await listening(stage, 'mail.received', SENDER);
  // The first arrivals compile what the others run.
  await stage.writer.burst({ store: 'mail', n: 50, perSecond: 100, senders: [SENDER] });
  const poll = polled ? await startRowPoll(stage.mailIndex) : null;
  const arrivals = await stage.writer.burst({ store: 'mail', n, perSecond, senders: [SENDER] });
  await client.until(() => client.heard.length >= n + 50, 3000);
  const ms = lag(arrivals, new Map(client.heard.map(({ rowid, at }) => [rowid, at])));
  if (poll === null) return { ms, pollMs: [], commitMs: bareCommits(stage.folder.at('bare.db')) };
  await new Promise((done) => setTimeout(done, 1200));
  poll.stop();
  return { ms, pollMs: lag(arrivals, poll.seen), commitMs: [] };
}

/** What the disk alone takes of a stamp that is taken before a COMMIT. */
function bareCommits(path: string): number[] {
  const db = new Database(path);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE t (x TEXT)');
  const insert = db.prepare('INSERT INTO t VALUES (?)');
  const ms = Array.from({ length: 200 }, () => {
    db.exec('BEGIN');
    for (let row = 0; row < 20; row += 1) insert.run('x'.repeat(1000));
    return timed(1, () => db.exec('COMMIT'))[0]!;
  });
  db.close();
  return ms;
}

async function messagesRun(): Promise<number[]> {
  await using stage = await openStage({ numbers: PEOPLE });
  const client = await listening(stage, 'messages.received', ...PEOPLE);
  await stage.writer.burst({ store: 'messages', n: 50, perSecond: 100, senders: PEOPLE });
  const arrivals = await stage.writer.burst({ store: 'messages', n: 500, perSecond: PER_SECOND, senders: PEOPLE });
  await client.until(() => client.heard.length >= 550, 3000);
  return lag(arrivals, new Map(client.heard.map(({ rowid, at }) => [rowid, at])));
}

async function listening(stage: Stage, name: string, ...from: string[]) {
  const client = stage.client();
  client.send('events/stream', { name, arguments: { from } }, 1);
  if (!(await client.until(() => client.active === 1))) throw new Error('The stream did not open.');
  return client;
}

function lag(arrivals: readonly Arrival[], seen: ReadonlyMap<number, bigint>): number[] {
  return arrivals.flatMap(({ rowid, committedAt }) => (seen.has(rowid) ? [msBetween(committedAt, seen.get(rowid)!)] : []));
}

async function startRowPoll(index: string) {
  const child = spawn(process.execPath, [fileURLToPath(new URL('row-poll.ts', import.meta.url)), index], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout });
  const seen = new Map<number, bigint>();
  await once(lines, 'line');
  lines.on('line', (line) => seen.set((JSON.parse(line) as { rowid: number }).rowid, process.hrtime.bigint()));
  return { seen, stop: () => child.kill() };
}
