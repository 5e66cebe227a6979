import { expect, test } from 'vitest';
import type { ChatRow, SenderRow } from '../../app/contract/values.ts';
import { onWords, senderItems } from './sender-items.ts';

const rule = (kind: SenderRow['kind'], value: string, fields: Partial<SenderRow> = {}): SenderRow =>
  ({ kind, value, display: kind === 'domain' ? `Everyone at ${value}` : value, subdomains: false, for: 'both', on: true, except: [], lastAt: null, ...fields });
const chat = (id: string, name: string, isGroup = true): ChatRow => ({ id, name, isGroup, participants: 4, lastAt: 7 });

test('rules and chats are one list, rules first', () => {
  const items = senderItems([rule('domain', 'example.org'), rule('phone', '+15550101234')], [chat('c1', 'Family'), chat('c2', 'Ada and Bob', false)], '');
  expect(items.map(({ title, kind, for: target, on }) => [title, kind, target, on])).toEqual([
    ['Everyone at example.org', 'Domain', 'Mail and Messages', true],
    ['+15550101234', 'Phone', 'Messages', true],
    ['Family', 'Group chat', 'Messages', true],
    ['Ada and Bob', 'Chat', 'Messages', true],
  ]);
  expect(new Set(items.map(({ key }) => key)).size).toBe(4);
});

test('search looks at rules and chats', () => {
  const rules = [rule('address', 'ada@example.com'), rule('domain', 'example.org')];
  const found = (text: string) => senderItems(rules, [chat('c1', 'Ada’s birthday')], text).map(({ title }) => title);
  expect(found('ADA')).toEqual(['ada@example.com', 'Ada’s birthday']);
  expect(found('group')).toEqual(['Ada’s birthday']);
  expect(found('nobody')).toEqual([]);
});

test('chats have no switch, so they count as on', () => {
  expect(onWords([rule('code', '12345', { on: false }), rule('address', 'ada@example.com')], [chat('c1', 'Family')])).toBe('2 of 3 on');
});
