import type { AllowOptions, Change } from './change.ts';
import { missingOf } from './clients.ts';
import { addRules } from './sender-edit.ts';
import type { ClientRecord, SenderRule, Settings } from './settings.ts';

/** What a request is compared with. */
export interface RequestHost {
  readonly settings: Settings;
  readonly region: string | null;
  /** Whether a client is let in: only then can it be granted more. */
  isIn(id: string): boolean;
  record(id: string): ClientRecord | null;
  widens(change: Change): boolean;
}

/** Each list of a change is a set: sorted and without repetitions, the same request is one text. */
export function canonical(change: Change): Change {
  return JSON.parse(JSON.stringify(change, (_key, value: unknown) => {
    if (Array.isArray(value)) return [...new Set(value)].sort();
    return typeof value === 'object' && value !== null ? Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1))) : value;
  })) as Change;
}

/** What of a request is not so already; null: nothing is left to ask for. */
export function outstanding(change: Change, host: RequestHost): Change | null {
  switch (change.do) {
    case 'grant-client': {
      const grants = host.isIn(change.id) ? missingOf(host.record(change.id)?.grants ?? [], change.grants) : [];
      return grants.length === 0 ? null : { ...change, grants };
    }
    case 'allow-client': {
      const record = host.record(change.id);
      return record !== null && allowsAll(record, change.options) ? null : change;
    }
    case 'add-senders':
      return holdsAll(host.settings.senders, addRules(host.settings.senders, change.senders, change.options, host.region)) ? null : change;
    case 'include': {
      const { accounts, mailboxes } = host.settings.excluded;
      return change.places.some((place) => accounts.includes(place) || mailboxes.includes(place)) ? change : null;
    }
    default:
      return host.widens(change) ? change : null;
  }
}

function allowsAll(record: ClientRecord, { once, events, senders, grants }: AllowOptions): boolean {
  const within = (held: 'all' | readonly string[], wanted: 'all' | readonly string[] = 'all') =>
    held === 'all' || (wanted !== 'all' && wanted.every((each) => held.includes(each)));
  const lasts = record.decision === 'always' || (record.decision === 'once' && once === true);
  return lasts && within(record.events, events) && within(record.senders, senders) && missingOf(record.grants, grants ?? []).length === 0;
}

/** Rules that an edit leaves as they are stay the same objects. */
const holdsAll = (rules: readonly SenderRule[], edit: ReturnType<typeof addRules>): boolean =>
  edit.ok && edit.rules.length === rules.length && edit.rules.every((rule, nth) => rule === rules[nth] || JSON.stringify(rule) === JSON.stringify(rules[nth]));
