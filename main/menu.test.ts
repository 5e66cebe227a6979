import { expect, test, vi } from 'vitest';
import { glanceOf } from '../app/contract/glance.ts';
import { untilWords } from '../app/contract/time-words.ts';
import { menuOf, templateOf, type MenuDeed, type MenuEntry } from './menu.ts';
import { client, healthCases, PAUSED_UNTIL, shellFacts, slices } from './testing/health-facts.ts';

const NOW = PAUSED_UNTIL - 3_600_000;
const NONE = { state: 'none', version: null } as const;
const glance = (facts: Parameters<typeof glanceOf>[0]) => glanceOf(facts, NOW, (at) => untilWords(at, NOW));
const deeds = (entries: readonly MenuEntry[]): MenuDeed[] => entries.flatMap((entry) => (entry.kind === 'item' ? [entry.deed] : entry.kind === 'submenu' ? deeds(entry.entries) : []));
const labels = (entries: readonly MenuEntry[]): string[] => entries.map((entry) => (entry.kind === 'separator' ? '-' : entry.label));

test('the menu has the entries of ui.md, in that order', () => {
  expect(labels(menuOf(glance({ shell: shellFacts(), slices: slices() }), NONE))).toEqual([
    'Belfry: Watching, 1 client listening', '-', 'New mail', 'New message', 'Pause', '-', 'Clients (1)...', 'Open Belfry', 'Settings...', 'Check for Updates...', 'Quit Belfry',
  ]);
});

test.each(healthCases)('$id: whatever the panel offers is in the menu too', (facts) => {
  const model = glance(facts);
  const found = deeds(menuOf(model, NONE));
  const wanted: MenuDeed[] = [
    ...(model.health.action ? [model.health.action.deed] : []),
    ...model.events.map(({ type, on }): MenuDeed => ({ kind: 'event', type, on: !on })),
    ...model.pause.choices.map(({ ms }): MenuDeed => ({ kind: 'pause', ms })),
    ...(model.pause.paused ? [{ kind: 'resume' } as const] : []),
    { kind: 'open', section: 'clients' }, { kind: 'main' }, { kind: 'open', section: 'settings' }, { kind: 'quit' },
  ];
  for (const deed of wanted) expect(found.filter((each) => JSON.stringify(each) === JSON.stringify(deed)).length, JSON.stringify(deed)).toBeGreaterThan(0);
  // And nothing that the panel has not, but the check for updates.
  for (const deed of found) if (deed.kind !== 'updates') expect(wanted).toContainEqual(deed);
});

test('Full Disk Access is offered only when it is what is wrong', () => {
  const offered = healthCases.filter((facts) => labels(menuOf(glance(facts), NONE)).includes('Fix Full Disk Access...')).map(({ id }) => id);
  expect(offered).toEqual(['accessLost', 'accessMissing']);
});

test('no sender, no subject and no client stands in the menu but one that asks, quoted', () => {
  const text = JSON.stringify(healthCases.map((facts) => [facts.id, labels(menuOf(glance(facts), NONE))]));
  expect(text).not.toMatch(/ada@|example\.com|agent(?!\\" wants (?:events|to open a draft))/);
});

test('the pause choices are a submenu, and a pause can be ended from the menu whatever else is wrong', () => {
  const model = glance({ shell: shellFacts(), slices: slices({ pausedUntil: 'resumed', waiting: [{ kind: 'client', id: '0a1b2c3d', since: 0, sentence: '', client: '0a1b2c3d', grants: [] }], clients: [client({ state: 'asking' })] }) });
  const menu = menuOf(model, NONE);
  expect(menu.flatMap((entry) => (entry.kind === 'submenu' ? labels(entry.entries) : []))).toEqual(['15 minutes', '1 hour', 'Until tomorrow', 'Until I resume']);
  expect(labels(menu)).toContain('Resume');
});

test('updates can be asked for only where the build has them', () => {
  const updates = (state: 'off' | 'none' | 'ready') => menuOf(glance({ shell: shellFacts(), slices: slices() }), { state, version: null }).find((entry) => entry.kind === 'item' && entry.deed.kind === 'updates');
  expect(updates('off')).toMatchObject({ label: 'Check for Updates...', enabled: false });
  expect(updates('none')).toMatchObject({ enabled: true });
  expect(updates('ready')).toMatchObject({ label: 'Restart to Update' });
});

test('built for Electron: switches are checkboxes, the headline is text, an ampersand stays, a choice is told', () => {
  const choose = vi.fn<(deed: MenuDeed) => void>();
  const [text, item] = templateOf([{ kind: 'text', label: '"R&D" wants events' }, { kind: 'item', label: 'New mail', deed: { kind: 'event', type: 'mail.received', on: false }, checked: true }], choose);
  expect(text).toEqual({ label: '"R&&D" wants events', enabled: false });
  expect(item).toMatchObject({ type: 'checkbox', checked: true });
  (item!.click as () => void)();
  expect(choose).toHaveBeenCalledWith({ kind: 'event', type: 'mail.received', on: false });
});
