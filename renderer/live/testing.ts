import type { LiveRow } from '../../app/contract/values.ts';

/** A row as a mail that waits; a test names only what it is about. */
export const liveRow = (fields: Partial<LiveRow> = {}): LiveRow => ({
  id: 1, at: Date.UTC(2026, 10, 30, 10, 42, 7), type: 'mail.received', eventId: '0a1b2c3d-1', sender: 'ada@example.com', name: 'Ada Lovelace',
  subject: 'Quarterly plan', place: 'INBOX', service: null, attachments: 0, status: 'waiting', reason: null, number: 1, notArrival: null, verdicts: [],
  test: false, json: null, ...fields,
});
