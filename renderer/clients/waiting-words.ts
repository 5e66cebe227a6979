import { many } from '../../app/contract/glance.ts';
import { quotedName } from '../../app/contract/health.ts';
import { codePointName, linesWithoutHidden } from '../../app/contract/name.ts';
import type { ClientRow, GrantName, WaitingRow } from '../../app/contract/values.ts';
import { asksWords } from './client-words.ts';

export type SignIn = Extract<WaitingRow, { kind: 'sign-in' }>;
export type Outgoing = Extract<WaitingRow, { kind: 'send' | 'draft' }>;

const GRANT_WORDS: Readonly<Record<GrantName, string>> = {
  mail: 'read mail from allowed senders', 'mail:everything': 'read all mail', messages: 'read messages from allowed senders', 'messages:everything': 'read all messages',
  search: 'search what it reads', reply: 'write, with each text shown to you first', 'reply:unasked': 'write to allowed senders without asking you',
};

/** What a program that signs in calls itself: only ever quoted. */
export const signInName = ({ name, client }: SignIn): string => quotedName({ label: name, display: '', id: client });

/** What became of a request to sign in since it was shown: another that has taken its place is not the one. */
export function signInState(asked: SignIn, waiting: readonly WaitingRow[]): 'waits' | 'gone' | 'changed' {
  const now = waiting.find(({ id }) => id === asked.id);
  if (now === undefined) return 'gone';
  const same = now.kind === 'sign-in' && now.client === asked.client && now.code === asked.code && now.host === asked.host && now.name === asked.name;
  return same ? 'waits' : 'changed';
}

/** Why its sheet was closed. */
export const signInOver = (asked: SignIn, waiting: readonly WaitingRow[]): string => (signInState(asked, waiting) === 'changed'
  ? 'The request to sign in changed while you looked at it, so it was closed. Look at it again.'
  : 'The program no longer waits to sign in: it was answered, or its time ran out.');

/** `read mail from allowed senders and search what it reads` */
export const asksBeyond = (grants: readonly GrantName[]): string => grants.map((grant) => GRANT_WORDS[grant]).join(' and ');

/** Who is not let in yet may wish for more already. */
const alsoWants = (grants: readonly GrantName[]): readonly string[] => (grants.length === 0 ? [] : [`It would also like to ${asksBeyond(grants)}.`]);

/** What an entry asks for, in one sentence. @param client null where it isn't known */
export function waitingWords(entry: WaitingRow, client: ClientRow | null): string {
  switch (entry.kind) {
    case 'send':
      return `Wants to send this to ${entry.chat.isGroup ? 'the group' : 'the chat'}:`;
    case 'draft':
      return entry.answers === null ? 'Wants to open this draft in Mail. Nothing is sent.' : 'Wants to open this answer as a draft in Mail. Nothing is sent.';
    case 'client':
      return client && asksWords(client) !== null ? [`Wants ${asksWords(client)}.`, ...alsoWants(entry.grants)].join(' ') : entry.sentence;
    case 'change':
      return client && entry.grants.length > 0 ? `Wants to ${asksBeyond(entry.grants)}.` : entry.sentence;
    case 'sign-in':
      return `Asks in the browser to be let in over HTTP, and goes on to ${entry.host} afterwards. Allow it only if the page there shows this number:`;
  }
}

/** `ends in 4 minutes`: then nothing was written. @param now Unix ms */
export function endsWords(expiresAt: number, now: number): string {
  const seconds = Math.max(0, Math.round((expiresAt - now) / 1000));
  return seconds >= 90 ? `ends in ${many(Math.round(seconds / 60), 'minute')}` : seconds === 0 ? 'is ending' : `ends in ${many(seconds, 'second')}`;
}

/** Who reads it: `Ada, Grace and 3 others` */
export function membersWords({ members, memberCount }: Extract<Outgoing, { kind: 'send' }>['chat']): string {
  const more = Math.max(0, memberCount - members.length);
  if (members.length === 0) return many(memberCount, 'person').replace('persons', 'people');
  return more === 0 ? members.join(', ') : `${members.join(', ')} and ${many(more, 'other')}`;
}

/** Whitespace stays; what shows nothing or turns the direction is shown by its number, since all of it would go out. */
export const visibleText = (text: string): string => linesWithoutHidden(text, codePointName);
