import { expect, test } from 'vitest';
import type { WebhookRow } from '../../app/contract/values.ts';
import { webhookCounts, webhookState } from './webhook-words.ts';

test.each<[WebhookRow['state'], WebhookRow['lastError'], string, string | null]>([
  ['ok', null, 'Sending', null], ['retrying', 'timeout', 'Trying again', "It doesn't answer in time. What is due is kept and tried again."],
  ['suspended', 'http_5xx', 'Suspended', 'It has a fault of its own. It failed for so long that nothing is sent until its client asks again.'],
  ['ending', null, 'Ending', 'The receiver is being told that it is over.'], ['paused', null, 'Paused', null],
  ['unreadable', null, "Can't read", "Belfry can't read Messages now. It goes on once it can."],
])('%s, %s', (state, lastError, text, sentence) => {
  expect(webhookState({ state, type: 'messages.received', lastError })).toMatchObject({ text, sentence });
});

test('what was accepted and what was given up', () => {
  expect(webhookCounts({ delivered: 12, failures: 0, givenUp: 0 })).toBe('12 accepted');
  expect(webhookCounts({ delivered: 0, failures: 4, givenUp: 1 })).toBe('0 accepted - 4 failed tries - 1 event given up');
});
