import { chmodSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { expect, test } from 'vitest';
import { tempFolder } from '../app/testing/temp.ts';
import { VirtualClock } from '../app/testing/virtual-clock.ts';
import { askHelper, shellDiagnostics, type ReportFacts } from './report.ts';
import { DEFAULT_PREFERENCES } from '../app/contract/shell.ts';
import { shellFacts } from './testing/health-facts.ts';

const facts = (change: Partial<ReportFacts> = {}): ReportFacts => ({
  state: shellFacts(), bundle: '/Applications/Belfry.app', sealSentence: null, engineSentence: null, preferencesState: 'read', helper: { kind: 'answered', ms: 3 }, ...change,
});
const row = (id: string, change: Partial<ReportFacts> = {}) => shellDiagnostics(facts(change)).find((each) => each.id === id);

test('all well: every row has evidence and needs no fix', () => {
  const rows = shellDiagnostics(facts());
  expect(rows.map(({ id, state, fix }) => [id, state, fix])).toEqual([
    ['location', 'ok', null], ['signature', 'ok', null], ['engine-process', 'ok', null], ['helper', 'ok', null], ['menu-bar-icon', 'ok', null], ['login-item', 'ok', null], ['seal', 'ok', null], ['preferences', 'ok', null],
  ]);
  for (const { evidence } of rows) expect(evidence).not.toBe('');
});

test.each<[string, string, Partial<ReportFacts>, string]>([
  ['location', 'a disk image', { state: shellFacts({ location: 'disk-image' }) }, 'problem'],
  ['location', 'a temporary copy', { state: shellFacts({ location: 'translocated' }) }, 'problem'],
  ['location', 'a development build', { state: shellFacts({ location: 'unpackaged' }) }, 'cant-check'],
  ['signature', 'an unsigned build', { state: shellFacts({ signature: 'unsigned', team: null }) }, 'warning'],
  ['engine-process', 'after a restart', { state: shellFacts({ restarts: 2 }) }, 'warning'],
  ['engine-process', 'stopped', { state: shellFacts({ engine: 'stopped' }), engineSentence: 'The disk is full.' }, 'problem'],
  ['helper', 'no helper', { helper: { kind: 'none' } }, 'problem'],
  ['helper', 'a helper without an answer', { helper: { kind: 'silent' } }, 'problem'],
  ['menu-bar-icon', 'an icon off screen', { state: shellFacts({ iconOnScreen: false }) }, 'warning'],
  ['menu-bar-icon', 'not looked yet', { state: shellFacts({ iconOnScreen: null }) }, 'cant-check'],
  ['menu-bar-icon', 'an icon that was turned off', { state: shellFacts({ iconOnScreen: null, preferences: { ...DEFAULT_PREFERENCES, showIcon: false } }) }, 'ok'],
  ['login-item', 'a login item that waits', { state: shellFacts({ loginItem: 'requires-approval' }) }, 'warning'],
  ['login-item', 'chosen here and off in the system', { state: shellFacts({ preferences: { ...DEFAULT_PREFERENCES, openAtLogin: true } }) }, 'warning'],
  ['seal', 'no keychain', { sealSentence: "The keychain can't be used." }, 'warning'],
  ['preferences', 'a broken file', { preferencesState: 'broken' }, 'warning'],
])('%s: %s', (id, _name, change, state) => {
  expect(row(id, change)?.state).toBe(state);
});

test('why an icon is off screen is never asserted', () => {
  expect(row('menu-bar-icon', { state: shellFacts({ iconOnScreen: false }) })?.fix).toBe('Either the menu bar is full, or Belfry is off in System Settings > Menu Bar.');
});

test('the helper answers if it is there, may run, and its socket says a word within 5 s', async () => {
  using folder = tempFolder();
  const [shim, socket] = [folder.at('belfry-mcp'), folder.at('s.sock')];
  const clock = new VirtualClock();
  expect(await askHelper(null, socket, '1', clock)).toEqual({ kind: 'none' });
  writeFileSync(shim, '', { mode: 0o644 });
  expect(await askHelper(shim, socket, '1', clock)).toEqual({ kind: 'not-runnable' });
  chmodSync(shim, 0o755);
  expect(await askHelper(shim, null, '1', clock)).toEqual({ kind: 'no-engine' });
  expect(await askHelper(shim, socket, '1', clock)).toEqual({ kind: 'no-engine' });
  let answers = true;
  let asked: (line: string) => void = () => undefined;
  const server = createServer((peer) => peer.on('error', () => undefined).on('data', (line) => {
    asked(line.toString());
    if (answers) peer.write('error Belfry serves signed helpers only.\n');
  }));
  await new Promise<void>((resolve) => server.listen(socket, resolve));
  expect(await askHelper(shim, socket, '1', clock)).toMatchObject({ kind: 'answered' });
  answers = false;
  const heard = new Promise<string>((resolve) => { asked = resolve; });
  const silent = askHelper(shim, socket, '1.2.0', clock);
  expect(JSON.parse(await heard)).toEqual({ protocol: 1, version: '1.2.0', mode: 'command', argv: ['--version'] });
  clock.advance(5000);
  expect(await silent).toEqual({ kind: 'silent' });
  server.close();
});
