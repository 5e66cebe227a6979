import { describe, expect, test } from 'vitest';
import { quotedName } from '../../app/contract/health.ts';
import type { WiringRow } from '../../app/contract/shell.ts';
import type { ClientRow } from '../../app/contract/values.ts';
import { asksWords, clientGroups, deliveredTo, notAllowedOf, startOf, stateWords, subscriptionWords, wiringOf, wiringWords } from './client-words.ts';

const client = (fields: Partial<ClientRow> = {}): ClientRow => ({
  id: '0123abcd', display: '/usr/local/bin/claude', signed: true, persistable: true, label: 'claude-code', decision: 'always', events: 'all', senders: 'all', grants: [],
  asks: [], seenAt: null, state: 'listening', connections: 2, connectedAt: 1, subscriptions: [], lastEventAt: null, ...fields,
});
const wiring = (fields: Partial<WiringRow> = {}): WiringRow => ({
  id: 'claude-code', title: 'Claude Code', state: 'set-up', file: '~/.claude.json', place: 'mcpServers', sentence: null, snippet: '{}', snippetFormat: 'json',
  addCommand: null, link: null, listenCommand: null, canOpen: false, startCommand: null, backup: null, ...fields,
});

test('clients are counted, not connections; those who ask stand elsewhere; unknown ones that left are gone', () => {
  const groups = clientGroups([
    client({ id: '00000001', connections: 5 }), client({ id: '00000002', state: 'asking', decision: 'none' }), client({ id: '00000003', state: 'away' }),
    client({ id: '00000004', state: 'away', decision: 'none' }), client({ id: '00000005', state: 'away', decision: 'denied' }), client({ id: '00000006', state: 'cant-tell' }),
  ]);
  expect(groups.connected.map(({ id }) => id)).toEqual(['00000001', '00000006']);
  expect(groups.away.map(({ id }) => id)).toEqual(['00000003', '00000005']);
});

test.each([
  [{ state: 'listening' }, 'Listening'], [{ state: 'connected' }, 'Connected, not listening'], [{ state: 'cant-tell' }, "Can't tell"],
  [{ state: 'asking', decision: 'none' }, 'Wants events'], [{ state: 'away' }, 'Not running'], [{ state: 'connected', decision: 'denied' }, 'Not allowed'],
] as const)('%j is %s', (fields, label) => {
  expect(stateWords(client(fields)).text).toBe(label);
});

describe('what a client asks for and gets', () => {
  const busy = client({
    asks: [{ type: 'mail.received', senders: 2, notAllowed: ['bob@example.net'] }, { type: 'messages.received', senders: 1, notAllowed: ['bob@example.net', '+15550101234'] }],
    subscriptions: [{ type: 'mail.received', senders: 2, mode: 'push', delivered: 3 }, { type: 'messages.received', senders: 1, mode: 'channel', delivered: 1 }],
  });
  test('in words', () => {
    expect(asksWords(busy)).toBe('New mail from 2 senders, New message from 1 sender');
    expect(asksWords(client())).toBeNull();
    expect(asksWords(client({ asks: [{ type: 'mail.received', senders: 0, notAllowed: [] }, { type: 'messages.received', senders: 1, notAllowed: [] }] }))).toBe('New mail, New message from 1 sender');
    expect(busy.subscriptions.map(subscriptionWords)).toEqual(['New mail - 2 senders - push - 3 delivered', 'New message - 1 sender - channel - 1 delivered']);
    expect(deliveredTo(busy)).toBe(4);
  });
  test('senders that no rule allows, each once', () => {
    expect(notAllowedOf(busy)).toEqual(['bob@example.net', '+15550101234']);
  });
});

test('the label says which settings file is shown', () => {
  const rows = [wiring({ id: 'cursor', title: 'Cursor' }), wiring()];
  expect(wiringOf(client(), rows)?.id).toBe('claude-code');
  expect(wiringOf(client({ label: 'Cursor' }), rows)?.id).toBe('cursor');
  expect(wiringOf(client({ label: 'my-agent' }), rows)).toBeNull();
  expect(wiringOf(client({ label: null }), rows)).toBeNull();
});

test('a program that is set up and does not run is opened, or its command is shown to copy', () => {
  expect(startOf(wiring({ canOpen: true, startCommand: 'codex' }), false)).toBe('app');
  expect(startOf(wiring({ startCommand: 'codex' }), false)).toEqual({ command: 'codex' });
  expect(startOf(wiring({ listenCommand: 'claude --listen' }), false)).toEqual({ command: 'claude --listen' });
  expect(startOf(wiring(), false)).toBeNull();
  expect(startOf(wiring({ canOpen: true }), true)).toBeNull();
  expect(startOf(wiring({ canOpen: true, state: 'not-set-up' }), false)).toBeNull();
});

test.each<[WiringRow['state'], boolean, string, string | null]>([
  ['set-up', true, 'Set up', 'Remove...'], ['set-up', false, 'Set up, not running', 'Remove...'], ['not-set-up', false, 'Not set up', 'Connect'],
  ['older-copy', false, 'Points to an older copy', 'Repair'], ['unreadable', false, 'Unreadable settings', 'Show File'],
  ['name-taken', false, 'Same name used by another server', 'Use Another Name'], ['cant-write', false, 'Settings can only be copied', 'Copy'],
])('%s, running: %s', (state, running, label, button) => {
  expect(wiringWords({ state }, running)).toMatchObject({ text: label, button });
});

test('a name is quoted, cleaned before it is cut, and cut at 64 characters', () => {
  expect(quotedName(client({ label: '</script>' }))).toBe('"</script>"');
  expect(quotedName(client({ label: `${'\u200b'.repeat(100)}agent\u202e` }))).toBe('"agent"');
  expect(quotedName(client({ label: 'x'.repeat(4000) }))).toBe(`"${'x'.repeat(63)}…"`);
  expect(quotedName(client({ label: null }))).toBe('"claude"');
});
