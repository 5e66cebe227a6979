import type { Database } from 'better-sqlite3';
import { CodexInboxes } from '../delivery/codex-inbox.ts';
import { Inbox } from '../delivery/inbox.ts';
import { Outgoing } from '../delivery/outgoing.ts';
import { OutgoingJournal } from '../delivery/outgoing-journal.ts';
import type { ItemRef } from '../delivery/watch.ts';
import { Watches } from '../delivery/watches.ts';
import type { Hub } from '../events/hub.ts';
import type { EventType } from '../events/occurrence.ts';
import { Channels } from '../mcp/channel.ts';
import { namesFor } from './client-names.ts';
import type { Engine } from './engine.ts';
import { ACTIVITY_WORDS, isUnasked, standing, write } from './writing.ts';

export interface Delivery {
  readonly watches: Watches;
  readonly inbox: Inbox;
  readonly channels: Channels;
  readonly inboxes: CodexInboxes;
  /** What is sent by Messages and opened in Mail. */
  readonly outgoing: Outgoing;
}

/** What waits for whom, joined with policy, activity and what is shown. Call it once these are there. */
export function deliveryOf(engine: Engine, db: Database, hubs: ReadonlyMap<EventType, Hub>): Delivery {
  const { policy, clock, activity, changes } = engine;
  const watches = new Watches({
    db, hubs, names: (type, principal) => namesFor(engine, type, principal), policy, clock,
    kept: { list: () => policy.watches, save: (watches) => policy.saveWatches(watches.map((watch) => ({ ...watch, arguments: { ...watch.arguments } }))) },
    listener: {
      trouble: (sentence) => watchTrouble(engine, sentence),
      gap: (type, client) => activity.record({ kind: 'gap', type, client }),
      changed: () => changes.stirred(),
    },
  });
  const inbox = new Inbox({
    watches, hubs, policy, clock,
    listener: { sent: (item, client) => itemTold(engine, 'sent', item, client), delivered: (item, client) => itemTold(engine, 'delivered', item, client) },
  });
  const channels = new Channels({ watches, inbox, policy, clock });
  const inboxes = new CodexInboxes({
    watches, inbox, clock,
    listener: { delivered: (item, client) => itemTold(engine, 'delivered', item, client), fault: (sentence) => engine.options.log(sentence) },
  });
  const outgoing = new Outgoing({
    journal: new OutgoingJournal(db), clock,
    policy: { standing: (id, writing) => standing(engine, id, writing), isUnasked: (id, writing) => isUnasked(engine, id, writing) },
    write: (writing) => write(engine, writing),
    told: ({ kind, client }, word) => {
      activity.record({ kind: kind === 'draft' ? 'draft' : 'reply', type: kind === 'draft' ? 'mail.received' : 'messages.received', client, reason: ACTIVITY_WORDS[word] });
      changes.changed();
    },
  });
  return { watches, inbox, channels, inboxes, outgoing };
}

/** One eventId counts once for a client, however many watches and sessions it came to. */
function itemTold(engine: Engine, kind: 'sent' | 'delivered', { type, eventId, storeRow }: ItemRef, client: string): void {
  engine.live.told(kind, eventId, client);
  engine.seen.delivered(client, engine.clock.now());
  engine.changes.stirred();
  engine.activity.record({ kind, client, eventId, ...(type !== 'test' && { type, rowid: storeRow }) });
}

function watchTrouble(engine: Engine, sentence: string | null): void {
  engine.watchTrouble = sentence;
  engine.options.log(sentence ?? 'Watches can keep items again');
  engine.changes.changed();
}
