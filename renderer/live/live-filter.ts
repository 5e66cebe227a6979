import type { LiveRow } from '../../app/contract/values.ts';

export interface LiveFilter {
  readonly mail: boolean;
  readonly messages: boolean;
  /** Off by default: what matches no allowed sender never leaves the Mac (ui.md, Live). */
  readonly notMatched: boolean;
  readonly text: string;
}

export const openFilter: LiveFilter = { mail: true, messages: true, notMatched: false, text: '' };

/** Nothing is left out but what is off by default. */
export const isOpen = (filter: LiveFilter): boolean => filter.mail && filter.messages && filter.text.trim() === '';

/** A row that is there only because the owner turned "Not matched" on: no rule names the sender and no client asked. */
export const isNotMatched = (row: LiveRow): boolean => row.status === 'not-sent' && row.verdicts.length === 0 && row.reason === 'no-allowed-sender';

/** @returns the same array if nothing is left out */
export function filterRows(rows: readonly LiveRow[], filter: LiveFilter): readonly LiveRow[] {
  if (isOpen(filter)) return rows;
  const text = filter.text.trim().toLowerCase();
  return rows.filter((row) => (row.type === 'mail.received' ? filter.mail : filter.messages) && (text === '' || holds(row, text)));
}

function holds(row: LiveRow, text: string): boolean {
  return [row.sender, row.name, row.subject, row.place].some((field) => field !== null && field.toLowerCase().includes(text))
    || row.verdicts.some(({ client }) => client.toLowerCase().includes(text));
}
