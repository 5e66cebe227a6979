import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { TICK_MS } from '../events/tail.ts';
import { openStage } from './stage.ts';
import { openStreams } from './streams.ts';
import type { Figure } from './table.ts';

const SECONDS = 60;
/** After 500 openings the garbage collector works for some seconds. */
const SETTLE_MS = 12_000;

/** Streams that wait: what the engine costs while nothing comes. Two heartbeats fall into the minute. */
export async function idle(): Promise<Figure[]> {
  await using stage = await openStage({ engine: { countSql: true } });
  await openStreams(stage, (stream) => `s${stream}@example.org`);
  await stage.writer.burst({ store: 'mail', n: 50, perSecond: 50, senders: ['s0@example.org'] });
  await new Promise((done) => setTimeout(done, SETTLE_MS));
  const before = await stage.usage();
  const bare = bareLoop(SECONDS, [stage.mailIndex, stage.folder.at('Messages', 'chat.db')]);
  await new Promise((done) => setTimeout(done, SECONDS * 1000));
  const after = await stage.usage();
  const bareCpu = await bare;
  const counts = Object.entries(after.sql).map(([sql, count]) => [sql, count - (before.sql[sql] ?? 0)] as const).filter(([, count]) => count > 0);
  const others = counts.filter(([sql]) => sql !== 'PRAGMA data_version');
  for (const [sql, count] of others) process.stderr.write(`idle: ${count} times ${sql}\n`);
  return [{
    figure: `idle, 500 streams open, ${SECONDS} s`,
    measured: [
      { what: 'engine CPU', value: (after.cpuMs - before.cpuMs) / (SECONDS * 10), unit: '%', atMost: 0.5 },
      { what: 'other SQL', value: others.reduce((sum, [, count]) => sum + count, 0), unit: '', atMost: 0 },
      { what: 'engine', value: after.rssMb, unit: 'MB' },
    ],
    against: `a Node process that only asks the same of the same files every ${TICK_MS} ms: CPU ${bareCpu.toFixed(2)} %; ${counts.find(([sql]) => sql === 'PRAGMA data_version')?.[1] ?? 0} times \`data_version\` over both stores`,
    why: `Waking is what costs here: a process that does nothing but ask \`stat\` and \`data_version\` of both stores every ${TICK_MS} ms took ${bareCpu.toFixed(2)} % in the same minute, and that look is what a deaf watcher makes necessary.`,
  }];
}

/** CPU, in percent of one core, of a process without streams, socket or policy that looks at the stores as often as the engine. */
async function bareLoop(seconds: number, stores: readonly string[]): Promise<number> {
  const { stdout } = await promisify(execFile)(process.execPath, [fileURLToPath(new URL('bare-loop.ts', import.meta.url)), String(TICK_MS), String(seconds - 4), ...stores]);
  return Number(stdout);
}
