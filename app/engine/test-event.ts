import { randomUUID } from 'node:crypto';
import type { MailRow, MessageRow } from '../apple/occurrence.ts';
import type { TestHop } from '../contract/values.ts';
import type { EventType, Occurrence } from '../events/occurrence.ts';
import type { Engine } from './engine.ts';
import { clientRows } from './report.ts';

const NAME = 'Belfry test';
/** A name that can be nobody's (RFC 2606). */
const ADDRESS = 'test@belfry.invalid';
const SUBJECT = 'Test event from Belfry: nobody wrote';

/**
 * An event that the owner asked for. It fits the payload schema, and its id, its sender and the mark in `_meta` say that
 * it is a test. It has no row in any store.
 * @param now Unix ms
 */
export function testOccurrence(type: EventType, now: number): Occurrence {
  const eventId = `test-${randomUUID()}`;
  const row = type === 'mail.received' ? testMail(now) : testMessage(eventId, now);
  return { type, row, eventId, sender: '', timestamp: new Date(now).toISOString() };
}

const common = (now: number) => ({
  rowid: 0, sender: null, excluded: null, incomplete: false, date: now, box: null, hasAttachments: false, attachmentCount: 0,
}) as const;

const testMail = (now: number): MailRow => ({
  ...common(now), store: 'mail', globalId: 0, messageHash: '0', messageIdHeader: null, from: { address: ADDRESS, name: NAME }, to: [], toCount: 0, recipients: [],
  subject: SUBJECT, mailbox: null, mailboxes: [], dateReceived: now, dateSent: null, conversationId: '',
});

const testMessage = (guid: string, now: number): MessageRow => ({
  ...common(now), store: 'messages', guid, handle: null, name: NAME, chat: null, service: null, replyTo: null, textHash: null, isLinkBalloon: false, hasLink: false,
});

/**
 * Sends one test event to each open stream of a client and says how far it came. Nothing else moves: no cursor, no ring,
 * no activity. Null: no such client.
 */
export function testClient(engine: Engine, id: string): TestHop[] | null {
  const row = clientRows(engine).find((client) => client.id === id);
  if (!row) return null;
  const peers = [...engine.connected].filter(({ identity }) => identity?.id === id);
  const streams = peers.flatMap((peer) => [...peer.streams]);
  const occurrences = new Map<EventType, Occurrence>();
  let held = 0;
  let sent = 0;
  for (const stream of streams) {
    const { type } = stream.filter;
    const occurrence = occurrences.get(type) ?? testOccurrence(type, engine.clock.now());
    occurrences.set(type, occurrence);
    if (engine.policy.gate({ id }, type) !== 'open') held += 1;
    else if (stream.test(occurrence)) {
      sent += 1;
      engine.live.test(occurrence, id, 'sent');
    }
  }
  const kept = keepTest(engine, id, peers.length > 0, row.decision);
  const helper: TestHop = peers.length > 0
    ? { hop: 'helper', ok: true, sentence: `Helper: ${peers.length} connected.` }
    : { hop: 'helper', ok: false, sentence: 'Helper: not connected. Start the client.' };
  return [helper, engineHop(engine, id, row.decision, held), clientHop(streams.length, sent, kept, row.subscriptions.length), confirmedHop(sent, kept)];
}

/** For a client that hears by channel or pulls: the same way as an item of its watches, with a mark. */
function keepTest(engine: Engine, id: string, connected: boolean, decision: string): boolean {
  const hears = engine.channels.stateOf(id) !== null || engine.pulls.isPulling(id) || engine.watches.list(id).length > 0;
  if (!connected || !hears || decision === 'denied' || !engine.policy.anyOn()) return false;
  const occurrence = testOccurrence('mail.received', engine.clock.now());
  // The row stands before the item moves: a channel takes it at once.
  engine.live.test(occurrence, id, 'kept');
  return engine.watches.addTest(id, occurrence.eventId) !== null;
}

function engineHop(engine: Engine, id: string, decision: string, held: number): TestHop {
  const no = (sentence: string): TestHop => ({ hop: 'engine', ok: false, sentence });
  const allowed = decision === 'always' || decision === 'once' || (decision === 'none' && engine.policy.trustLocalClients);
  if (!allowed) return no(`Belfry: this client is not allowed. "belfry clients allow ${id}" allows it.`);
  if (!engine.policy.anyOn()) return no('Belfry: every event is off.');
  if (engine.policy.pausedUntil !== null) return no('Belfry: paused, so nothing is sent.');
  if (held > 0) return no('Belfry: this client may not receive that event.');
  return { hop: 'engine', ok: true, sentence: 'Belfry: this client is allowed.' };
}

function clientHop(streams: number, sent: number, kept: boolean, subscriptions: number): TestHop {
  const hop = 'client' as const;
  if (sent > 0) return { hop, ok: true, sentence: `Client: a test event went to ${sent} open ${sent === 1 ? 'stream' : 'streams'}.` };
  if (kept) return { hop, ok: null, sentence: 'Client: a test event lies in its inbox. Live shows when it was handed over, and when it was confirmed.' };
  if (streams > 0) return { hop, ok: false, sentence: `Client: ${streams} open ${streams === 1 ? 'stream' : 'streams'}, and nothing could be sent.` };
  if (subscriptions > 0) return { hop, ok: null, sentence: 'Client: asks from time to time instead of listening, so a test event cannot be sent to it.' };
  return { hop, ok: false, sentence: 'Client: listens to nothing. It has to open a stream or poll.' };
}

/** A stream has no receipt (SEP-3415): what the client made of it cannot be seen. */
const confirmedHop = (sent: number, kept: boolean): TestHop => ({
  hop: 'confirmed',
  ok: null,
  sentence: kept ? 'Confirmed: not yet. The client confirms with its next look.'
    : sent > 0 ? "Confirmed: can't tell. A stream has no receipt; look in the client." : "Confirmed: can't tell, since nothing was sent.",
});
