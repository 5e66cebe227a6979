import { many } from '../../app/contract/glance.ts';
import type { Access, EventRow } from '../../app/contract/values.ts';

export const sourceName = (type: EventRow['type']): 'Mail' | 'Messages' => (type === 'mail.received' ? 'Mail' : 'Messages');
export const storeOf = (type: EventRow['type'], access: Access): Access['mail'] => (type === 'mail.received' ? access.mail : access.messages);

export interface EventNote {
  readonly text: string;
  /** Something keeps events from arriving. */
  readonly warns: boolean;
}

/**
 * How it stands with the source of an event, as sentences or short facts.
 * @param time renders a Unix ms time
 */
export function eventNotes(event: EventRow, access: Access, starting: boolean, time: (at: number) => string): readonly EventNote[] {
  const name = sourceName(event.type);
  const store = storeOf(event.type, access);
  const fact = (text: string) => ({ text, warns: false });
  const warning = (text: string) => ({ text, warns: true });
  if (store.state === 'missing') return [warning(event.on ? `${name} isn't set up on this Mac, so nothing arrives.` : `${name} isn't set up on this Mac.`)];
  if (!event.on) return [fact('Off. Nothing is read for this event.')];
  if (starting) return [fact('Starting...')];
  if (store.state === 'denied') return [warning('Starts once Belfry has access.')];
  if (event.sourceOpen === false) return [warning(`${name} isn't open. New ${name === 'Mail' ? 'mail arrives' : 'messages arrive'} only while ${name} runs.`), ...read(event, time)];
  return [...(event.sourceOpen === null ? [] : [fact(`${name} is open`)]), ...(event.accounts === null ? [] : [fact(many(event.accounts, 'account'))]), ...read(event, time)];
}

const read = (event: EventRow, time: (at: number) => string): readonly EventNote[] => (event.readAt === null ? [] : [{ text: `index read ${time(event.readAt)}`, warns: false }]);

/** A switch that could not be turned on says why instead. One that is on can always be turned off. */
export function cannotTurnOn(event: EventRow, access: Access): boolean {
  return !event.on && storeOf(event.type, access).state === 'missing';
}
