import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { median, msBetween, percentile, worst } from './samples.ts';
import { openStage, type Stage } from './stage.ts';
import type { Figure } from './table.ts';

const STARTS = 300;
const RELAY_STARTS = 40;

/** What an AI client waits for when it starts its server, and what that server then weighs. */
export async function shim(): Promise<Figure[]> {
  await using stage = await openStage();
  const relay: [string, ...string[]] = [process.execPath, fileURLToPath(new URL('node-relay.mjs', import.meta.url))];
  await starts(stage, 20, 'server/discover', {});
  const own = await starts(stage, STARTS, 'server/discover', {});
  const polled = await starts(stage, STARTS, 'events/poll', { name: 'mail.received', arguments: { from: ['ann@example.org'] }, cursor: null });
  const node = await starts(stage, RELAY_STARTS, 'server/discover', {}, relay);
  return [
    {
      figure: `shim: start to first answer, ${STARTS} starts`,
      measured: [{ what: 'p50', value: median(own.ms), unit: 'ms', atMost: 5 }, { what: 'p95', value: percentile(own.ms, 0.95), unit: 'ms', atMost: 9 }, { what: 'resident', value: worst(own.mb), unit: 'MB', atMost: 2 }],
      against: `a relay of 10 lines of Node: p50 ${median(node.ms).toFixed(0)} ms, p95 ${percentile(node.ms, 0.95).toFixed(0)} ms, ${worst(node.mb).toFixed(0)} MB`,
      samples: { ms: own.ms, relayMs: node.ms },
    },
    {
      figure: 'shim: start to first poll, which waits for the peer check',
      measured: [{ what: 'p50', value: median(polled.ms), unit: 'ms', atMost: 5 }, { what: 'p95', value: percentile(polled.ms, 0.95), unit: 'ms', atMost: 9 }],
      samples: { ms: polled.ms },
    },
  ];
}

async function starts(stage: Stage, times: number, method: string, params: object, command?: readonly [string, ...string[]]): Promise<{ ms: number[]; mb: number[] }> {
  const [ms, mb]: number[][] = [[], []];
  for (let nth = 0; nth < times; nth += 1) {
    const from = process.hrtime.bigint();
    const client = stage.client(command);
    client.send(method, params, 1);
    if (!(await client.until(() => client.others.length > 0)) || !client.others[0]!.text.includes('"result"')) throw new Error(`No answer: ${client.others[0]?.text}`);
    ms!.push(msBetween(from, client.others[0]!.at));
    if (nth % 10 === 0) mb!.push(Number(execFileSync('ps', ['-o', 'rss=', '-p', String(client.process.pid)], { encoding: 'utf8' })) / 1024);
    const gone = new Promise((done) => client.process.once('exit', done));
    client.process.stdin!.end();
    await gone;
  }
  return { ms: ms!, mb: mb! };
}
