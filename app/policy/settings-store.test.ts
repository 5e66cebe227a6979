import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { asNobody } from '../testing/as-nobody.ts';
import { tempFolder } from '../testing/temp.ts';
import { defaultSettings, readSettings, migrationSteps } from './settings.ts';
import { loadSettings, SettingsStore, writeSettings } from './settings-store.ts';

const NOW = Date.UTC(2026, 10, 30, 5, 51);
const BROKEN = 'settings.broken-20261130T055100000Z.json';

test('everything is off by default', () => {
  expect(defaultSettings).toEqual({
    version: 2, excluded: { accounts: [], mailboxes: [] }, events: { 'mail.received': false, 'messages.received': false }, senders: [], chats: [], mailboxes: null, backfill: false, pausedUntil: null,
    subjects: true, ratePerHour: 120, clients: [], watches: [], tokens: [], signIns: [], http: false, httpPort: 23_537, hosts: [], keepSendersDays: 0, indexOnBattery: true, fetchThroughMail: false, hideCodes: true, askNewClients: true, region: null, seal: null,
  });
});

test.each([
  ['{"version":2}', 'ok', null],
  ['{"version":7,"whatever":true}', 'newer', /newer Belfry \(version 7; this one knows 2\)/],
  ['{', 'broken', /it is not JSON/],
  ['', 'broken', /it is not JSON/],
  ['null', 'broken', /not a JSON object/],
  ['[]', 'broken', /not a JSON object/],
  ['{}', 'broken', /version: must be a whole number/],
  ['{"version":"1"}', 'broken', /version: must be a whole number/],
  ['{"version":1.5}', 'broken', /version: must be a whole number/],
  ['{"version":0}', 'broken', /0 never was one/],
  ['{"version":2,"senderz":[]}', 'broken', /unknown key "senderz"/],
  ['{"version":2,"__proto__":{"a":1}}', 'broken', /unknown key "__proto__"/],
  ['{"version":2,"events":{"calendar.received":true}}', 'broken', /events: unknown key "calendar.received"/],
  ['{"version":2,"subjects":"yes"}', 'broken', /subjects: must be on or off/],
  ['{"version":2,"ratePerHour":0}', 'broken', /ratePerHour: /],
  ['{"version":2,"senders":[{"kind":"address"}]}', 'broken', /senders\[0\]\.value: /],
  ['{"version":2,"clients":[{"id":"xyz"}]}', 'broken', /clients\[0\]\.id: must be 8 hex digits/],
  ['{"version":2,"region":"Holland"}', 'broken', /region: must be a country code/],
  [`{"version":2,"a":${'['.repeat(200_000)}${']'.repeat(200_000)}}`, 'broken', /unknown key|not JSON/],
] as const)('settings %.60s are %s', (json, state, sentence) => {
  using folder = tempFolder();
  const file = folder.at('settings.json');
  writeFileSync(file, json);
  const loaded = loadSettings(file, NOW);
  expect(loaded.state).toBe(state);
  expect(loaded.settings).toEqual(defaultSettings);
  if (sentence === null) expect(loaded.sentence).toBeUndefined();
  else expect(loaded.sentence).toMatch(sentence);
  if (state === 'broken') {
    expect(readFileSync(folder.at(BROKEN), 'utf8')).toBe(json);
    expect(existsSync(file)).toBe(false);
  } else expect(readFileSync(file, 'utf8')).toBe(json);
});

test('an absent file is fresh, and nothing is written for it', () => {
  using folder = tempFolder();
  expect(loadSettings(folder.at('settings.json'))).toEqual({ settings: defaultSettings, state: 'fresh', writable: true });
  expect(readdirSync(folder.path)).toEqual([]);
});

test('a huge file and a folder in its place are moved aside unread', () => {
  for (const huge of [true, false]) {
    using folder = tempFolder();
    const file = folder.at('settings.json');
    if (huge) {
      writeFileSync(file, '');
      truncateSync(file, 3e9);
    } else mkdirSync(file);
    const loaded = loadSettings(file, NOW);
    expect(loaded.sentence).toMatch(huge ? /larger than 16 MB/ : /not a regular file/);
    expect(existsSync(folder.at(BROKEN))).toBe(true);
  }
});

test('a newer file is never written', () => {
  using folder = tempFolder();
  const file = folder.at('settings.json');
  writeFileSync(file, '{"version":3}');
  const store = new SettingsStore(file);
  expect(store.save({ ...defaultSettings, backfill: true })).toMatch(/newer Belfry/);
  expect(readFileSync(file, 'utf8')).toBe('{"version":3}');
  expect(store.settings.backfill).toBe(false);
});

test('an older file goes up by steps, and the old one is kept', () => {
  using folder = tempFolder();
  const file = folder.at('settings.json');
  writeFileSync(file, '{"version":0,"hideSubjects":true}');
  const steps = { ...migrationSteps, 0: ({ hideSubjects }: Record<string, unknown>) => ({ subjects: hideSubjects !== true }) };
  const loaded = loadSettings(file, NOW, steps);
  expect(loaded).toMatchObject({ state: 'migrated', settings: { version: 2, subjects: false }, sentence: expect.stringMatching(/version 0/) });
  expect(readFileSync(folder.at('settings.v0.json'), 'utf8')).toBe('{"version":0,"hideSubjects":true}');
  expect(loadSettings(file)).toMatchObject({ state: 'ok', settings: { subjects: false } });
  const failing = { 0: () => { throw new Error('no'); } };
  expect(readSettings('{"version":0}', failing)).toEqual({ state: 'broken', reason: 'it could not be brought up from version 0' });
});

test('version 1 to 2: reading without a reach becomes reading from allowed senders, nothing more', () => {
  const client = (grants: unknown) => ({ id: '0123abcd', identity: { display: 'x' }, decision: 'always', grants });
  const read = readSettings(JSON.stringify({ version: 1, clients: [client(['reading', 'reply']), client([])] }));
  expect(read).toMatchObject({ state: 'migrated', from: 1, settings: { version: 2, excluded: { accounts: [], mailboxes: [] }, clients: [{ grants: ['mail', 'messages', 'reply'] }, { grants: [] }] } });
  expect(readSettings(JSON.stringify({ version: 1, clients: [client(['root'])] }))).toMatchObject({ state: 'broken' });
  expect(readSettings(JSON.stringify({ version: 1, clients: 'x' }))).toMatchObject({ state: 'broken' });
});

test('writing is 0600, leaves no temp file, and reads back the same', () => {
  using folder = tempFolder();
  const file = folder.at('settings.json');
  const settings = { ...defaultSettings, chats: ['iMessage;+;chat1'], region: 'NL' };
  writeSettings(file, settings);
  expect(statSync(file).mode & 0o777).toBe(0o600);
  expect(readdirSync(folder.path)).toEqual(['settings.json']);
  expect(loadSettings(file).settings).toEqual(settings);
});

test('a folder that went away is a sentence and changes nothing', () => {
  using folder = tempFolder();
  mkdirSync(folder.at('data'));
  const store = new SettingsStore(folder.at('gone', 'settings.json'));
  expect(store.save({ ...defaultSettings, backfill: true })).toBe("Couldn't write settings.json: the data folder is gone. Nothing was changed.");
  expect(store.settings.backfill).toBe(false);
});

test('a file that may not be read is left as it is', () => {
  using folder = tempFolder();
  const file = folder.at('settings.json');
  writeFileSync(file, '{"version":2}');
  chmodSync(file, 0);
  chmodSync(folder.path, 0o755);
  expect(asNobody(() => loadSettings(file))).toMatchObject({ state: 'broken', writable: false, sentence: expect.stringMatching(/EACCES/) });
});
