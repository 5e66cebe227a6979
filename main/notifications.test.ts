import { describe, expect, test } from 'vitest';
import { ALERTS, conditionsOf, decideAlerts, type AlertId, type AlertMemory } from './notifications.ts';
import { DEFAULT_PREFERENCES } from '../app/contract/shell.ts';
import type { Slices } from '../app/contract/values.ts';
import { client, shellFacts, slices } from './testing/health-facts.ts';

const textThatWaits: Slices['waiting'][number] = {
  kind: 'send', id: 't', since: 0, sentence: '', client: '0a1b2c3d', clientName: '"my-agent"', expiresAt: 1, text: 'words', chat: { id: 'c', name: 'Family', isGroup: true, members: [], memberCount: 2, service: null },
};
const everything = { ...DEFAULT_PREFERENCES, alertNotDelivered: true };
const decide = (holding: AlertId[], memory: AlertMemory, now: number, change: { inFront?: boolean; preferences?: typeof everything } = {}) => {
  const decision = decideAlerts({ holding: new Set(holding), preferences: everything, inFront: false, ...change }, memory, now);
  return { ...decision, told: decision.tell.map(({ text }) => text) };
};

test.each<[AlertId, number, string]>([
  ['access-lost', 60_000, "Mail and message events have stopped. Belfry can't read them."],
  ['engine-stopped', 0, 'Events have stopped.'],
  ['client-asks', 0, 'A new app wants events.'],
  ['text-waits', 0, 'A client wants to write something. It waits for you.'],
  ['not-delivered', 600_000, 'Events are waiting. No client is listening.'],
  ['update-ready', 0, 'An update is ready.'],
])('%s: told after %i ms, once until it clears', (id, steady, text) => {
  const first = decide([id], new Map(), 1000);
  expect(first.told).toEqual(steady === 0 ? [text] : []);
  expect(first.againMs).toBe(steady === 0 ? null : steady);
  const before = decide([id], first.memory, 1000 + steady - 1);
  expect(before.told).toEqual([]);
  const due = decide([id], before.memory, 1000 + steady);
  expect(due.told).toEqual(steady === 0 ? [] : [text]);
  const later = decide([id], due.memory, 1000 + steady + 3_600_000);
  expect(later.told).toEqual([]);
  const cleared = decide([], later.memory, 1000 + steady + 3_600_001);
  expect(cleared.withdraw).toEqual([id]);
  expect(decide([id], cleared.memory, 9_000_000 + steady).memory.get(id)).toMatchObject({ since: 9_000_000 + steady });
});

test('which are on: all but events that wait', () => {
  const on = ALERTS.filter(({ preference }) => DEFAULT_PREFERENCES[preference]).map(({ id }) => id);
  expect(on).toEqual(['access-lost', 'engine-stopped', 'client-asks', 'text-waits', 'update-ready']);
});

test('one that is off is not told, and is told if it is turned on while it still holds', () => {
  const silent = decide(['client-asks'], new Map(), 0, { preferences: { ...everything, alertClientAsks: false } });
  expect(silent.told).toEqual([]);
  expect(decide(['client-asks'], silent.memory, 1).told).toEqual(['A new app wants events.']);
});

test('nothing while a window is in front: the owner saw it there, so it is not told afterwards either', () => {
  const seen = decide(['engine-stopped'], new Map(), 0, { inFront: true });
  expect(seen.told).toEqual([]);
  expect(decide(['engine-stopped'], seen.memory, 1).told).toEqual([]);
});

test('access that comes back within a minute is never mentioned', () => {
  const lost = decide(['access-lost'], new Map(), 0);
  const back = decide([], lost.memory, 30_000);
  expect(back).toMatchObject({ told: [], withdraw: [], againMs: null });
  expect(decide(['access-lost'], back.memory, 61_000).told).toEqual([]);
});

describe('conditions', () => {
  const holding = (...args: Parameters<typeof conditionsOf>) => [...conditionsOf(...args)].sort();
  const shell = shellFacts();
  const denied = (everRead: boolean) => slices({ access: { mail: { state: 'denied', everRead, version: null }, messages: { state: 'readable', everRead: true, version: null }, checkedAt: 1 } });
  const arrived = (at: number) => slices().events.map((event) => ({ ...event, lastAt: at }));

  test.each([
    ['all well', shell, slices(), null, []],
    ['the engine stopped', shellFacts({ engine: 'stopped' }), null, null, ['engine-stopped']],
    ['it restarts', shellFacts({ engine: 'restarting' }), null, null, []],
    ['an update is ready', shellFacts({ update: { state: 'ready', version: '2' } }), slices(), null, ['update-ready']],
    ['access that was there is gone', shell, denied(true), null, ['access-lost']],
    ['access that never was', shell, denied(false), null, []],
    ['a client asks', shell, slices({ waiting: [{ kind: 'client', id: '0a1b2c3d', since: 0, sentence: '', client: '0a1b2c3d', grants: [] }] }), null, ['client-asks']],
    ['a program asks to sign in', shell, slices({ waiting: [{ kind: 'sign-in', id: 's', since: 0, sentence: '', client: '0a1b2c3d', name: 'Notebook', host: 'x.example', code: '4711', expiresAt: 1, grants: [] }] }), null, ['client-asks']],
    ['a client wants to send a text', shell, slices({ waiting: [textThatWaits] }), null, ['text-waits']],
    ['a command asks for a change', shell, slices({ waiting: [{ kind: 'change', id: '1', since: 0, sentence: '', client: null, grants: [] }] }), null, []],
    ['an arrival that nobody heard, with a client expected', shell, slices({ clients: [client({ state: 'away' })], events: arrived(50) }), 40, ['not-delivered']],
    ['the same, with no client ever allowed', shell, slices({ clients: [client({ state: 'away', decision: 'none' })], events: arrived(50) }), 40, []],
    ['an arrival from before the client left', shell, slices({ clients: [client({ state: 'away' })], events: arrived(30) }), 40, []],
    ['somebody listens', shell, slices({ events: arrived(50) }), 40, []],
  ] as const)('%s', (_name, shell, state, heardAt, wanted) => {
    expect(holding(shell, state, heardAt)).toEqual(wanted);
  });
});

test('no text names a sender, a subject or a client', () => {
  for (const { text } of ALERTS) expect(text).not.toMatch(/[@"%{}]|\$/);
});
