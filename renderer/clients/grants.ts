import type { GrantName } from '../../app/contract/values.ts';

/** What a client may do beyond hearing of arrivals, as four choices of which each begins at `no`. */
export interface ClientGrants {
  readonly mail: 'no' | 'rules' | 'everything';
  readonly messages: 'no' | 'rules' | 'everything';
  readonly search: 'no' | 'yes';
  readonly reply: 'no' | 'ask' | 'unasked';
}
export type GrantKey = keyof ClientGrants;

export const NO_GRANTS: ClientGrants = { mail: 'no', messages: 'no', search: 'no', reply: 'no' };

/** Of two that say the same the wider counts, as policy has it. */
export function choicesOf(grants: readonly GrantName[]): ClientGrants {
  const reach = (store: 'mail' | 'messages') => (grants.includes(`${store}:everything`) ? 'everything' : grants.includes(store) ? 'rules' : 'no');
  return {
    mail: reach('mail'), messages: reach('messages'), search: grants.includes('search') ? 'yes' : 'no',
    reply: grants.includes('reply:unasked') ? 'unasked' : grants.includes('reply') ? 'ask' : 'no',
  };
}

export function namesOf({ mail, messages, search, reply }: ClientGrants): GrantName[] {
  const read = (store: 'mail' | 'messages', reach: ClientGrants['mail']): GrantName[] => (reach === 'no' ? [] : [reach === 'rules' ? store : `${store}:everything`]);
  return [...read('mail', mail), ...read('messages', messages), ...(search === 'yes' ? ['search' as const] : []), ...(reply === 'no' ? [] : [reply === 'ask' ? 'reply' as const : 'reply:unasked' as const])];
}

export interface GrantOption<V extends string = string> {
  readonly value: V;
  readonly label: string;
  /** What it means while it is chosen. */
  readonly hint: string;
  /** What is said before it is given; of `no` nothing. */
  readonly confirm: string;
  /** `"Claude Code" ...`, once it is so. */
  readonly now: string;
}

/** In the order from narrow to wide. */
export const GRANTS: { readonly [K in GrantKey]: { readonly title: string; readonly options: readonly GrantOption<ClientGrants[K]>[] } } = {
  mail: {
    title: 'Read mail',
    options: [
      { value: 'no', label: 'No', hint: "It hears that mail arrived and can't open it.", confirm: '', now: 'no longer reads mail' },
      {
        value: 'rules', label: 'From allowed senders', hint: 'It opens mail from the senders it may hear of: text, links and attachments.',
        confirm: 'It can open mail from the senders it may hear of, also mail that came before: text, links and attachments.', now: 'may read mail from allowed senders',
      },
      {
        value: 'everything', label: 'All mail', hint: 'It opens all mail on this Mac, but what is left out in Settings.',
        confirm: 'It can open all mail on this Mac, whoever wrote it, also what you sent. Only accounts and mailboxes that are left out in Settings stay closed.', now: 'may read all mail',
      },
    ],
  },
  messages: {
    title: 'Read messages',
    options: [
      { value: 'no', label: 'No', hint: "It hears that a message arrived and can't read it.", confirm: '', now: 'no longer reads messages' },
      {
        value: 'rules', label: 'From allowed senders', hint: 'It reads messages from the senders it may hear of.',
        confirm: 'It can read messages from the senders it may hear of, also older ones.', now: 'may read messages from allowed senders',
      },
      {
        value: 'everything', label: 'All messages', hint: 'It reads all messages on this Mac.',
        confirm: 'It can read all messages on this Mac, whoever wrote them, also your own words. Codes for signing in may be among them.', now: 'may read all messages',
      },
    ],
  },
  search: {
    title: 'Search',
    options: [
      { value: 'no', label: 'No', hint: "It can't look for words.", confirm: '', now: 'no longer searches' },
      {
        value: 'yes', label: 'Yes', hint: 'It finds words in what it may read.',
        confirm: 'It can look for words in what it may read. For mail Belfry keeps an index on this Mac, encrypted.', now: 'may search what it reads',
      },
    ],
  },
  reply: {
    title: 'Write',
    options: [
      { value: 'no', label: 'No', hint: 'It writes nothing.', confirm: '', now: 'no longer writes' },
      {
        value: 'ask', label: 'Ask each time', hint: 'Each message and each draft waits until you have read it and allowed it.',
        confirm: 'It can write messages to chats that it may hear of or read, and drafts in Mail. You see each text and allow it before it goes anywhere. Mail is never sent by Belfry.',
        now: 'may write when you allow each text',
      },
      {
        value: 'unasked', label: 'Without asking', hint: 'It sends messages in your name to chats whose members are all allowed senders, and you see it afterwards in Activity. All else you see first.',
        confirm: 'It sends messages in your name without asking, to chats whose members are all senders that it may hear of. In Mail it opens new drafts, and answers to such senders. What was sent stays sent. You see it afterwards in Activity. All else that it may write you see and allow first, also if it may read everything.',
        now: 'may write to allowed senders without asking',
      },
    ],
  },
};
export const GRANT_KEYS = Object.keys(GRANTS) as readonly GrantKey[];

const optionsOf = (key: GrantKey): readonly GrantOption[] => GRANTS[key].options;
const rankOf = (key: GrantKey, value: string): number => optionsOf(key).findIndex((option) => option.value === value);
export const optionOf = (grants: ClientGrants, key: GrantKey): GrantOption => optionsOf(key)[rankOf(key, grants[key])]!;

/** The choices that let a client do more than before. */
export const widenedBy = (before: ClientGrants, after: ClientGrants): readonly GrantKey[] => GRANT_KEYS.filter((key) => rankOf(key, after[key]) > rankOf(key, before[key]));

/** Takes back what led from one choice to the next, and nothing that was chosen since. */
export function takenBack(current: ClientGrants, before: ClientGrants, after: ClientGrants): ClientGrants {
  const changed = GRANT_KEYS.filter((key) => before[key] !== after[key]);
  return { ...current, ...Object.fromEntries(changed.map((key) => [key, before[key]])) };
}

/** What stands beside a choice: what it means, or why it comes to nothing. */
export function hintOf(grants: ClientGrants, key: GrantKey): string {
  if (key === 'search' && grants.search === 'yes' && grants.mail === 'no' && grants.messages === 'no') return 'It may read nothing yet, so it finds nothing.';
  return optionOf(grants, key).hint;
}

/** `"Claude Code" may read all mail and no longer searches.` @param name as quoted */
export function changedWords(name: string, before: ClientGrants, after: ClientGrants): string {
  const changed = GRANT_KEYS.filter((key) => before[key] !== after[key]).map((key) => optionOf(after, key).now);
  return `${name} ${changed.join(' and ')}.`;
}
