import { chmodSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { asNobody } from '../app/testing/as-nobody.ts';
import { tempFolder } from '../app/testing/temp.ts';
import { DEFAULT_PREFERENCES } from '../app/contract/shell.ts';
import { PreferencesStore } from './preferences.ts';

test('without a file the defaults hold and nothing is written', () => {
  using folder = tempFolder();
  const store = new PreferencesStore(folder.path);
  expect(store.value).toEqual(DEFAULT_PREFERENCES);
  expect(store.fileState).toBe('fresh');
  expect(existsSync(folder.at('preferences.json'))).toBe(false);
});

test('a choice is kept over a restart, for this user only, and told with what was before', () => {
  using folder = tempFolder();
  const store = new PreferencesStore(folder.path);
  const told: [string, string][] = [];
  store.onChange((now, before) => told.push([before.clickOpens, now.clickOpens]));
  expect(store.set('clickOpens', 'menu')).toEqual({ ok: true, changed: true });
  expect(store.set('clickOpens', 'menu')).toEqual({ ok: true, changed: false });
  expect(told).toEqual([['panel', 'menu']]);
  expect(new PreferencesStore(folder.path).value).toEqual({ ...DEFAULT_PREFERENCES, clickOpens: 'menu' });
  expect(statSync(folder.at('preferences.json')).mode & 0o777).toBe(0o600);
});

test('a value that does not fit is refused by name and changes nothing', () => {
  using folder = tempFolder();
  const store = new PreferencesStore(folder.path);
  expect(store.set('clickOpens', 'everything')).toEqual({ ok: false, sentence: 'clickOpens can\'t be "everything".' });
  expect(store.set('openAtLogin', 'yes')).toMatchObject({ ok: false });
  expect(store.value).toEqual(DEFAULT_PREFERENCES);
});

test('a file of an earlier build is filled up with defaults', () => {
  using folder = tempFolder();
  writeFileSync(folder.at('preferences.json'), JSON.stringify({ version: 1, onboarding: 'senders' }));
  expect(new PreferencesStore(folder.path).value).toEqual({ ...DEFAULT_PREFERENCES, onboarding: 'senders' });
});

test.each([['not JSON', '{"version":1,'], ['the wrong kind', '[]'], ['a value that does not fit', '{"version":1,"showIcon":"often"}']])('a broken file (%s) is moved aside; defaults hold and can be changed', (_name, text) => {
  using folder = tempFolder();
  writeFileSync(folder.at('preferences.json'), text);
  const store = new PreferencesStore(folder.path);
  expect(store.value).toEqual(DEFAULT_PREFERENCES);
  expect(store.fileState).toBe('broken');
  expect(readFileSync(folder.at('preferences.json.broken'), 'utf8')).toBe(text);
  expect(store.set('showIcon', false)).toEqual({ ok: true, changed: true });
  expect(new PreferencesStore(folder.path).value.showIcon).toBe(false);
});

test('a file of a newer version is neither used nor written', () => {
  using folder = tempFolder();
  const text = JSON.stringify({ version: 2, showIcon: false, colour: 'blue' });
  writeFileSync(folder.at('preferences.json'), text);
  const store = new PreferencesStore(folder.path);
  expect(store.fileState).toBe('newer');
  expect(store.value).toEqual(DEFAULT_PREFERENCES);
  expect(store.set('openAtLogin', true)).toMatchObject({ ok: false });
  expect(readFileSync(folder.at('preferences.json'), 'utf8')).toBe(text);
});

test('a folder that cannot be written to is a refusal, and the choice does not hold', () => {
  using folder = tempFolder();
  mkdirSync(folder.at('data'));
  chmodSync(folder.path, 0o755);
  chmodSync(folder.at('data'), 0o555);
  const store = new PreferencesStore(folder.at('data'));
  expect(asNobody(() => store.set('showIcon', false))).toEqual({ ok: false, sentence: "Couldn't write the preferences. The data folder can't be written to." });
  expect(store.value.showIcon).toBe(true);
  chmodSync(folder.at('data'), 0o755);
});
