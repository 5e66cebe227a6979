import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { HttpClient } from '../testing/http-client.ts';
import { startReceiver, type Receiver } from '../testing/webhook-receiver.ts';
import { median, msBetween, percentile } from './samples.ts';
import { openStage, type Stage } from './stage.ts';
import type { Figure } from './table.ts';

const SENDER = 'ann@example.org';
const SUBSCRIPTIONS = 100;
const ARRIVALS = 100;
const PER_SECOND = 5;
const WARM_UP = 10;
/** Places at the receiver, one of which hangs. */
const PLACES = 10;

/** Every arrival goes to 100 subscriptions over https; first all receivers answer, then that of one never does. */
export async function webhook(): Promise<Figure[]> {
  await using receiver = await startReceiver({ names: ['localhost'] });
  const allow = async (_: unknown, dataDir: string) => {
    const file = `${dataDir}/settings.json`;
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')) as object, hosts: [receiver.host] }));
  };
  await using stage = await openStage({ engine: { httpPort: 0, webhookCa: receiver.ca }, prepare: allow });
  await subscribe(stage, receiver);
  await fanOut(stage, receiver, WARM_UP);
  const alone = await fanOut(stage, receiver, ARRIVALS);
  receiver.answer('/hangs', () => undefined);
  const before = await stage.usage();
  const ms = await fanOut(stage, receiver, ARRIVALS);
  const after = await stage.usage();
  const others = SUBSCRIPTIONS - 1;
  return [{
    figure: `${SUBSCRIPTIONS} webhooks, ${ARRIVALS} arrivals at ${PER_SECOND}/s that all of them match, the receiver of one hangs: COMMIT to the others' request read`,
    measured: [
      { what: 'p99', value: percentile(ms, 0.99), unit: 'ms', atMost: 200 }, { what: 'median', value: median(ms), unit: 'ms' }, { what: 'lost', value: ARRIVALS * others - ms.length, unit: '', atMost: 0 },
      { what: 'engine CPU', value: (after.cpuMs - before.cpuMs) / (ARRIVALS / PER_SECOND * 10), unit: '%' }, { what: 'engine', value: after.peakRssMb, unit: 'MB' },
    ],
    against: `the same while all answer: median ${median(alone).toFixed(1)} ms, p99 ${percentile(alone, 0.99).toFixed(0)} ms; ${receiver.connections()} connections in all`,
    samples: { ms, alone },
  }];
}

/** Ms from each arrival to each request of those that answer. */
async function fanOut(stage: Stage, receiver: Receiver, count: number): Promise<number[]> {
  receiver.received.length = 0;
  const arrivals = await stage.writer.burst({ store: 'mail', n: count, perSecond: PER_SECOND, senders: [SENDER] });
  await heard(receiver, count * (SUBSCRIPTIONS - 1));
  // An envelope names no row: mails arrive in the order of their ids, which rise by one.
  const numberOf = (eventId: string) => Number(eventId.split('-')[1]);
  const others = receiver.deliveries().filter(({ path }) => path !== '/hangs');
  const first = Math.min(...others.map(({ body }) => numberOf(body['eventId'] as string)));
  const known = new Map<string, number>();
  for (const { body, headers, heardAt } of others) {
    const key = `${headers['x-mcp-subscription-id']!} ${body['eventId'] as string}`;
    const arrival = arrivals[numberOf(body['eventId'] as string) - first];
    if (arrival !== undefined && !known.has(key)) known.set(key, msBetween(arrival.committedAt, heardAt));
  }
  return [...known.values()];
}

/** Looks now and then: what looks at each request would be what is measured. */
async function heard(receiver: Receiver, count: number): Promise<void> {
  const others = () => receiver.received.length - receiver.deliveries('/hangs').length;
  for (const end = performance.now() + 60_000; others() < count && performance.now() < end;) await new Promise((done) => void setTimeout(done, 200));
}

async function subscribe(stage: Stage, receiver: Receiver): Promise<void> {
  const client = new HttpClient(stage.http!, 'test-bench');
  for (let nth = 0; nth < SUBSCRIPTIONS; nth += 1) {
    const path = nth === 0 ? '/hangs' : `/right/${nth % PLACES}`;
    const answer = await client.request('events/subscribe', {
      name: 'mail.received', arguments: { from: [SENDER, `w${nth}@example.org`] }, delivery: { mode: 'webhook', url: receiver.url(path), secret: `whsec_${randomBytes(32).toString('base64')}` },
    });
    if (!answer['result']) throw new Error(`A webhook was not granted: ${JSON.stringify(answer)}`);
  }
}
