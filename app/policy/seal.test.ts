import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempFolder, type TempFolder } from '../testing/temp.ts';
import { Sealer, type SealCounter } from './seal.ts';
import { defaultSettings, type Settings, migrationSteps } from './settings.ts';
import { loadSettings, SettingsStore } from './settings-store.ts';
import { policyIn } from './testing.ts';

const KEY = Buffer.alloc(32, 7).toString('base64');
const NOW = Date.UTC(2026, 10, 30, 5, 51);

/** A folder with its counter, as state.db keeps it: it outlives stores, as the disk does. */
class Place {
  readonly folder: TempFolder;
  counter: number | null = null;
  constructor(folder: TempFolder) {
    this.folder = folder;
  }
  get file(): string {
    return this.folder.at('settings.json');
  }
  get text(): string {
    return readFileSync(this.file, 'utf8');
  }
  get textOrNull(): string | null {
    return statSync(this.file, { throwIfNoEntry: false })?.isFile() ? this.text : null;
  }
  sealer(key = KEY): Sealer {
    const kept: SealCounter = { last: () => this.counter, keep: (counter) => { this.counter = counter; } };
    return new Sealer(key, kept);
  }
  /** The app starts. */
  store(key = KEY): SettingsStore {
    return new SettingsStore(this.file, NOW, this.sealer(key));
  }
}

const on: Settings = { ...defaultSettings, events: { 'mail.received': true, 'messages.received': false } };

test('the first run has no seal and nothing to review; each write is sealed with a counter that rises', () => {
  using folder = tempFolder();
  const place = new Place(folder);
  const first = place.store();
  expect([first.seal, first.loaded.state, first.loaded.writable]).toEqual(['ok', 'fresh', true]);
  expect(existsSync(place.file)).toBe(false);
  expect(first.save(on)).toBeNull();
  expect(first.save({ ...on, backfill: true })).toBeNull();
  expect(JSON.parse(place.text)).toMatchObject({ backfill: true, seal: { counter: 2, mac: expect.stringMatching(/^[\w+/]{43}=$/) } });
  expect(place.counter).toBe(2);
  const again = place.store();
  expect([again.seal, again.settings.backfill, again.loaded.sentence]).toEqual(['ok', true, undefined]);
});

test('another spelling of the same content holds: order and spaces are not what is sealed', () => {
  using folder = tempFolder();
  const place = new Place(folder);
  place.store().save(on);
  const content = JSON.parse(place.text) as Record<string, unknown>;
  writeFileSync(place.file, JSON.stringify(Object.fromEntries(Object.entries(content).toReversed())));
  expect(place.store().seal).toBe('ok');
});

test.each<[string, (place: Place) => void]>([
  ['an edited file', (place) => writeFileSync(place.file, place.text.replace('"messages.received": false', '"messages.received": true'))],
  ['a removed seal', (place) => writeFileSync(place.file, JSON.stringify({ ...JSON.parse(place.text) as object, seal: null }))],
  ['a raised counter', (place) => writeFileSync(place.file, place.text.replace(/"counter": \d+/, '"counter": 99'))],
  ['a removed file', (place) => rmSync(place.file)],
  ['a file that is no JSON', (place) => writeFileSync(place.file, '{')],
  ['a folder in its place', (place) => {
    rmSync(place.file);
    mkdirSync(place.file);
  }],
  ['an older sealed file', (place) => {
    const older = place.text;
    place.store().save({ ...on, subjects: false });
    writeFileSync(place.file, older);
  }],
  ['an older sealed file, with the counter taken away', (place) => {
    place.counter = null;
  }],
])('%s: everything is off, and nothing is written until the owner answered', (_what, tamper) => {
  using folder = tempFolder();
  const place = new Place(folder);
  place.store().save(on);
  tamper(place);
  const before = place.textOrNull;
  const store = place.store();
  expect([store.seal, store.loaded.state, store.settings]).toEqual(['broken', 'tampered', defaultSettings]);
  expect(store.loaded.sentence).toMatch(/changed outside Belfry/);
  expect(store.save({ ...on, backfill: true })).toMatch(/changed outside Belfry/);
  expect(place.textOrNull).toBe(before);
  // Also at the next start: no answer is no answer.
  expect(place.store().seal).toBe('broken');
  expect(place.store().answerSeal(false)).toBeNull();
  const after = place.store();
  expect([after.seal, after.settings.events]).toEqual(['ok', defaultSettings.events]);
});

test('accepted: what the file said at start holds, not what was written into it since', () => {
  using folder = tempFolder();
  const place = new Place(folder);
  place.store().save(defaultSettings);
  writeFileSync(place.file, JSON.stringify(on));
  const store = place.store();
  writeFileSync(place.file, JSON.stringify({ ...on, senders: [{ kind: 'domain', value: 'evil.example' }] }));
  expect(store.answerSeal(true)).toBeNull();
  expect([store.seal, store.settings.events['mail.received'], store.settings.senders, store.loaded.writable]).toEqual(['ok', true, [], true]);
  expect(place.store().settings.senders).toEqual([]);
  expect(store.answerSeal(true)).toMatch(/not broken/);
});

test('refused: the file that was found is kept beside', () => {
  using folder = tempFolder();
  const place = new Place(folder);
  place.store().save(defaultSettings);
  writeFileSync(place.file, JSON.stringify(on));
  expect(place.store().answerSeal(false)).toBeNull();
  expect(readdirSync(folder.path).sort()).toEqual(['settings.json', 'settings.refused-20261130T055100000Z.json']);
});

test('a file from before the first seal has to be reviewed: anybody could have written it', () => {
  using folder = tempFolder();
  const place = new Place(folder);
  writeFileSync(place.file, JSON.stringify(on));
  const store = place.store();
  expect([store.seal, store.settings.events['mail.received']]).toEqual(['broken', false]);
  expect(store.answerSeal(true)).toBeNull();
  expect([place.store().seal, place.store().settings.events['mail.received']]).toEqual(['ok', true]);
});

test('another key does not open it', () => {
  using folder = tempFolder();
  const place = new Place(folder);
  place.store().save(on);
  expect(place.store(Buffer.alloc(32, 8).toString('base64')).seal).toBe('broken');
  expect(() => place.sealer('c2hvcnQ=')).toThrow(/too short/);
});

test('a kill between the file and the counter is no tampering', () => {
  using folder = tempFolder();
  const place = new Place(folder);
  const store = place.store();
  store.save(on);
  const kept = place.counter!;
  store.save({ ...on, backfill: true });
  place.counter = kept;
  expect([place.store().seal, place.counter]).toEqual(['ok', kept + 1]);
});

test('headless: no seal; a file that the app sealed is read and left as it is', () => {
  using folder = tempFolder();
  const place = new Place(folder);
  const headless = () => new SettingsStore(place.file, NOW);
  expect(headless().seal).toBe('none');
  expect(headless().save(on)).toBeNull();
  expect(JSON.parse(place.text)).toMatchObject({ seal: null });
  rmSync(place.file);
  place.store().save(on);
  const { text } = place;
  const store = headless();
  expect([store.seal, store.settings.events['mail.received']]).toEqual(['none', true]);
  expect(store.save(defaultSettings)).toMatch(/sealed by the Belfry app/);
  expect(place.text).toBe(text);
  expect(place.store().seal).toBe('ok');
});

test('an older version that was sealed is brought up and sealed again; a field that a version adds breaks no seal', () => {
  using folder = tempFolder();
  const place = new Place(folder);
  // As an earlier version would have sealed it: without fields that came later.
  const sealer = place.sealer();
  const old = { version: 0, hideSubjects: true } as unknown as Settings;
  const sealed = sealer.sealed(old);
  sealer.written(sealed);
  writeFileSync(place.file, JSON.stringify(sealed));
  const steps = { ...migrationSteps, 0: ({ hideSubjects, ...rest }: Record<string, unknown>) => ({ ...rest, subjects: hideSubjects !== true }) };
  expect(loadSettings(place.file, NOW, steps, place.sealer())).toMatchObject({ state: 'migrated', settings: { version: 2, subjects: false, mailboxes: null } });
  expect([place.store().seal, place.store().settings.subjects]).toEqual(['ok', false]);
});

test('policy: off while broken, refuses changes, and goes on with the answer', () => {
  using folder = tempFolder();
  const place = new Place(folder);
  place.store().save(defaultSettings);
  writeFileSync(place.file, JSON.stringify({ ...on, pausedUntil: 'resumed', clients: [{ id: 'aaaaaaaa', identity: { display: '/bin/agent' }, decision: 'always' }] }));
  const { policy } = policyIn(folder.path, { settings: place.store() });
  const heard: string[] = [];
  policy.onChange((kind, sentence) => heard.push(`${kind}: ${sentence}`));
  expect([policy.seal, policy.anyOn(), policy.snapshot().clients]).toEqual(['broken', false, []]);
  expect(policy.setEvent('mail.received', true)).toMatchObject({ ok: false, code: 'not-written' });
  expect(policy.answerSeal(true)).toEqual({ ok: true, changed: true, sentence: 'The settings of the file hold now.' });
  expect([policy.seal, policy.eventOn('mail.received'), policy.pausedUntil, policy.snapshot().clients[0]?.decision]).toEqual(['ok', true, 'resumed', 'always']);
  expect(heard.at(-1)).toBe('settings: Settings changed outside Belfry were accepted');
  expect(policy.answerSeal(true)).toMatchObject({ ok: false, code: 'nothing' });
  expect(policy.setEvent('messages.received', true)).toMatchObject({ ok: true });
});
