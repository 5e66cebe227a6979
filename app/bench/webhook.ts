import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { HttpClient } from '../testing/http-client.ts';
import { right, startReceiver, type Receiver } from '../testing/webhook-receiver.ts';
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

/** Every arrival goes to 100 subscriptions over https; the receiver of one never answers. */
export async function webhook(): Promise<Figure[]> {
  await using receiver = await startReceiver({ names: ['localhost'] });
  const allow = async (_: unknown, dataDir: string) => {
    const file = `${dataDir}/settings.json`;
    writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')) as object, hosts: [receiver.host] }));
  };
  await using stage = await openStage({ engine: { httpPort: 0, webhookCa: receiver.ca }, prepare: allow });
  receiver.answer('/hangs', (received, response) => (received.body['type'] === 'verification' ? right(received, response) : undefined));
  const hanging = await subscribe(stage, receiver);

  await stage.writer.burst({ store: 'mail', n: WARM_UP, perSecond: PER_SECOND, senders: [SENDER] });
  await heard(receiver, WARM_UP * (SUBSCRIPTIONS - 1));
  const before = await stage.usage();
  const arrivals = await stage.writer.burst({ store: 'mail', n: ARRIVALS, perSecond: PER_SECOND, senders: [SENDER] });
  await heard(receiver, (WARM_UP + ARRIVALS) * (SUBSCRIPTIONS - 1));
  const after = await stage.usage();

  // The envelope says no rowid: mails come in the order of their ids, which rise by one.
  const numberOf = (eventId: string) => Number(eventId.split('-')[1]);
  const numbers = [...new Set(receiver.deliveries().map(({ body }) => numberOf(body['eventId'] as string)))].sort((a, b) => a - b).slice(-ARRIVALS);
  const committed = new Map(arrivals.map(({ committedAt }, nth) => [numbers[nth], committedAt]));
  const ms: number[] = [];
  const known = new Set<string>();
  for (const { path, body, headers, heardAt } of receiver.deliveries()) {
    const from = committed.get(numberOf(body['eventId'] as string));
    const key = `${headers['x-mcp-subscription-id']!} ${body['eventId'] as string}`;
    if (from === undefined || path === '/hangs' || known.has(key)) continue;
    known.add(key);
    ms.push(msBetween(from, heardAt));
  }
  const wanted = ARRIVALS * (SUBSCRIPTIONS - 1);
  return [{
    figure: `${SUBSCRIPTIONS} webhooks, ${ARRIVALS} arrivals at ${PER_SECOND}/s that all of them match, the receiver of one hangs: COMMIT to the others' request read`,
    measured: [
      { what: 'p99', value: percentile(ms, 0.99), unit: 'ms', atMost: 200 }, { what: 'median', value: median(ms), unit: 'ms' }, { what: 'lost', value: wanted - ms.length, unit: '', atMost: 0 },
      { what: 'tries at the one that hangs', value: receiver.deliveries('/hangs').length, unit: '' },
      { what: 'engine CPU', value: (after.cpuMs - before.cpuMs) / (ARRIVALS / PER_SECOND * 10), unit: '%' }, { what: 'engine', value: after.peakRssMb, unit: 'MB' },
    ],
    against: `${wanted} requests, each signed, over ${receiver.connections()} connections; ${hanging} of ${SUBSCRIPTIONS} hangs`,
    samples: { ms },
  }];
}

/** Looks now and then: what looks at each request would be what is measured. */
async function heard(receiver: Receiver, count: number): Promise<void> {
  const others = () => receiver.received.length - receiver.deliveries('/hangs').length - receiver.envelopes('verification').length;
  for (const end = performance.now() + 60_000; others() < count && performance.now() < end;) await new Promise((done) => void setTimeout(done, 200));
}

/** Gives how many of them go to the place that hangs. */
async function subscribe(stage: Stage, receiver: Receiver): Promise<number> {
  const client = new HttpClient(stage.http!, 'test-bench');
  let hanging = 0;
  for (let nth = 0; nth < SUBSCRIPTIONS; nth += 1) {
    const path = nth === 0 ? '/hangs' : `/right/${nth % PLACES}`;
    if (path === '/hangs') hanging += 1;
    const answer = await client.request('events/subscribe', {
      name: 'mail.received', arguments: { from: [SENDER, `w${nth}@example.org`] }, delivery: { mode: 'webhook', url: receiver.url(path), secret: `whsec_${randomBytes(32).toString('base64')}` },
    });
    if (!answer['result']) throw new Error(`A webhook was not granted: ${JSON.stringify(answer)}`);
  }
  return hanging;
}
