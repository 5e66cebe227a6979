import { many } from '../../app/contract/glance.ts';
import type { WebhookRow } from '../../app/contract/values.ts';
import { sourceName } from '../events/event-notes.ts';
import type { BadgeKind } from '../parts/badge.tsx';

const ERRORS: Readonly<Record<NonNullable<WebhookRow['lastError']>, string>> = {
  connection_refused: "It can't be reached.", timeout: "It doesn't answer in time.", tls_error: "Its certificate isn't accepted.", http_4xx: 'It refuses what is sent.',
  http_5xx: 'It has a fault of its own.', challenge_failed: 'It did not answer the question that shows it wants events.',
};

/** A webhook of a client: where it stands, and what the receiver did, by its kind and never in its own words. */
export function webhookState({ state, type, lastError }: Pick<WebhookRow, 'state' | 'type' | 'lastError'>): { readonly text: string; readonly kind: BadgeKind; readonly sentence: string | null } {
  const why = lastError === null ? '' : `${ERRORS[lastError]} `;
  switch (state) {
    case 'ok': return { text: 'Sending', kind: 'ok', sentence: null };
    case 'retrying': return { text: 'Trying again', kind: 'wait', sentence: `${why}What is due is kept and tried again.` };
    case 'suspended': return { text: 'Suspended', kind: 'problem', sentence: `${why}It failed for so long that nothing is sent until its client asks again.` };
    case 'ending': return { text: 'Ending', kind: 'quiet', sentence: 'The receiver is being told that it is over.' };
    case 'waiting-for-owner': return { text: 'Waiting for you', kind: 'wait', sentence: "The client or its host isn't allowed now." };
    case 'paused': return { text: 'Paused', kind: 'quiet', sentence: null };
    case 'ceiling': return { text: 'Ceiling reached', kind: 'wait', sentence: 'The events of this hour are used up. It goes on by itself.' };
    case 'unreadable': return { text: "Can't read", kind: 'problem', sentence: `Belfry can't read ${sourceName(type)} now. It goes on once it can.` };
  }
}

/** `12 accepted - 4 failed tries - 1 event given up` */
export const webhookCounts = ({ delivered, failures, givenUp }: Pick<WebhookRow, 'delivered' | 'failures' | 'givenUp'>): string =>
  [`${delivered} accepted`, ...(failures > 0 ? [`${failures} failed ${failures === 1 ? 'try' : 'tries'}`] : []), ...(givenUp > 0 ? [`${many(givenUp, 'event')} given up`] : [])].join(' - ');
