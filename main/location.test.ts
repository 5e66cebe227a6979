import { expect, test } from 'vitest';
import { bundleOf, locationOf } from './location.ts';

const inBundle = (folder: string) => `${folder}/Belfry.app/Contents/MacOS/Belfry`;

test.each([
  ['ok', { packaged: true, platform: 'darwin', path: inBundle('/Applications'), inApplications: true }],
  ['ok', { packaged: true, platform: 'darwin', path: inBundle('/Users/ada/Applications'), inApplications: true }],
  ['translocated', { packaged: true, platform: 'darwin', path: inBundle('/private/var/folders/x1/T/AppTranslocation/0A1B/d'), inApplications: false }],
  ['disk-image', { packaged: true, platform: 'darwin', path: inBundle('/Volumes/Belfry'), inApplications: false }],
  ['outside-applications', { packaged: true, platform: 'darwin', path: inBundle('/Users/ada/Downloads'), inApplications: false }],
  ['unpackaged', { packaged: false, platform: 'darwin', path: '/src/node_modules/electron/dist/Electron', inApplications: false }],
  ['unpackaged', { packaged: false, platform: 'linux', path: '/src/electron', inApplications: false }],
] as const)('%s', (wanted, facts) => {
  expect(locationOf(facts)).toBe(wanted);
});

test('the bundle is what lies around the executable, if anything does', () => {
  expect(bundleOf(inBundle('/Applications'))).toBe('/Applications/Belfry.app');
  expect(bundleOf('/usr/bin/electron')).toBeNull();
});
