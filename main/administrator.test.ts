import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tempFolder } from '../app/testing/temp.ts';
import { needsAdministrator, readPrivacyPolicy, type AdministratorFacts } from './administrator.ts';

const bundleId = 'dev.belfry.Belfry';
const STAFF = [20, 12, 61, 702, 701];
const ADMIN = [20, 12, 61, 79, 80, 81, 98];
const ask = (facts: Partial<AdministratorFacts>) => needsAdministrator({ platform: 'darwin', groups: ADMIN, policy: null, bundleId, ...facts });

const xml = (id: string) => `<plist version="1.0"><dict><key>Services</key><dict><key>SystemPolicyAllFiles</key><array><dict>
<key>Identifier</key><string>${id}</string><key>Allowed</key><false/></dict></array></dict></dict></plist>`;
/** A name as a binary property list holds it: its length before it, and right after it the mark of the next object, here of a text of nine characters. */
const binary = (id: string) => `bplist00\u00d1\u0001\u0002_\u0010${String.fromCharCode(id.length)}${id}YbundleID\u0000`;

test.each<[string, Partial<AdministratorFacts>, boolean | null]>([
  ['an administrator', {}, false],
  ['an account that is none', { groups: STAFF }, true],
  ['so many groups that the list may be cut', { groups: Array.from({ length: 16 }, (_, index) => 500 + index) }, null],
  ['a full list that names the group', { groups: [...Array.from({ length: 15 }, (_, index) => 500 + index), 80] }, false],
  ['a profile that names this app', { policy: xml(bundleId) }, true],
  ['a profile that names this app, binary', { policy: binary(bundleId) }, true],
  ['a profile for other apps', { policy: xml('com.example.Guard') }, false],
  ['a profile for an app whose name begins the same', { policy: xml('dev.belfry.Belfry.development') + binary('dev.belfry.Belfry-Pro') }, false],
  ['another system', { platform: 'linux', groups: STAFF }, null],
])('%s', (_, facts, wanted) => {
  expect(ask(facts)).toBe(wanted);
});

test('what no profile says, and what cannot be read, is nothing', () => {
  using folder = tempFolder();
  expect(readPrivacyPolicy(folder.at('none.plist'))).toBeNull();
  expect(readPrivacyPolicy(folder.path)).toBeNull();
  writeFileSync(folder.at('policy.plist'), Buffer.from(binary(bundleId), 'latin1'));
  expect(ask({ policy: readPrivacyPolicy(folder.at('policy.plist')) })).toBe(true);
});
