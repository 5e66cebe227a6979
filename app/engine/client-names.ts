import { namesOf } from '../events/names.ts';
import type { EventType } from '../events/occurrence.ts';
import type { NameLookup } from '../events/sender-filter.ts';
import type { Principal } from '../events/verdict.ts';
import type { Engine } from './engine.ts';

/** Names as a client may use them: it is told of chats in which somebody may ring for it, and of mailboxes that are not excluded. Null: the owner asks. */
export function namesFor(engine: Engine, type: EventType, principal: Principal | null): NameLookup {
  const { policy } = engine;
  return namesOf(engine.hub(type).reader, policy.region, {
    hides: (mailbox) => policy.hides(mailbox),
    lists: (members, guid) => principal === null || members.some((member) => policy.mayHearFrom(member, guid, principal)),
  });
}
