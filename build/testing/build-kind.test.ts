import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import { FuseV1Options } from '@electron/fuses';
import { fuses, withoutArbitraryLoads } from '../after-pack.mjs';
import { NEVER_SHIPPED } from '../app-stage.mjs';
import { buildConfig, buildKind, type BuildKind } from '../dist.mjs';
import { signatureFindings } from '../inspect-app.mjs';
import sign, { type SignOptions } from '../sign.mjs';

const build = dirname(dirname(fileURLToPath(import.meta.url)));
const able = { BELFRY_TEAM: 'ABCDE12345', CSC_LINK: 'p12', APPLE_API_KEY: 'k', APPLE_API_KEY_ID: 'i', APPLE_API_ISSUER: 's' };
const where = { output: 'dist/release', version: '45.5.0' };

describe('a release', () => {
  test('is made of a team, an identity and a notary\'s key', () => {
    expect(buildKind(['--release'], { ...able, BELFRY_FEED: 'https://updates.example/belfry' }, 'darwin')).toEqual({
      kind: 'release', team: 'ABCDE12345', feed: 'https://updates.example/belfry', name: 'Belfry', appId: 'dev.belfry.Belfry',
    });
  });

  test.each([
    ['elsewhere than on a Mac', able, 'linux', 'A release is made on a Mac: signing and disk images need its tools.'],
    ['without a team', { ...able, BELFRY_TEAM: '' }, 'darwin', 'A release needs BELFRY_TEAM, the ten characters of the Developer ID team.'],
    ['with a team that is none', { ...able, BELFRY_TEAM: '"; echo' }, 'darwin', 'A release needs BELFRY_TEAM, the ten characters of the Developer ID team.'],
    ['without an identity', { ...able, CSC_LINK: undefined }, 'darwin', 'A release needs a Developer ID Application identity: CSC_LINK with CSC_KEY_PASSWORD, or CSC_NAME of one in the keychain.'],
    ['that can\'t be notarised', { ...able, APPLE_API_KEY_ID: undefined, APPLE_API_ISSUER: undefined }, 'darwin', 'A release is notarised, which needs APPLE_API_KEY_ID, APPLE_API_ISSUER.'],
    ['with a feed that isn\'t https', { ...able, BELFRY_FEED: 'http://updates.example' }, 'darwin', 'BELFRY_FEED must be an https address: updates come from it.'],
  ] as const)('%s is refused', (_what, env, platform, refused) => {
    expect(buildKind(['--release'], env, platform)).toEqual({ refused });
  });

  test('is never one that tests can drive', () => {
    expect(buildKind(['--release', '--for-tests'], able, 'darwin')).toEqual({ refused: 'A release is never built for tests: leave out --for-tests.' });
  });

  test('must be signed, hardened by electron-builder.yml, and notarised; it is published by hand', () => {
    expect(buildConfig(buildKind(['--release'], able, 'darwin') as BuildKind, where)).toMatchObject({ forceCodeSigning: true, mac: { notarize: true }, publish: null });
  });
});

test('any other build is a development build, whatever the environment says: another name, id and no feed', () => {
  expect(buildKind([], { ...able, BELFRY_FEED: 'https://updates.example' }, 'darwin')).toEqual({
    kind: 'development', team: '', feed: '', name: 'Belfry Development', appId: 'dev.belfry.Belfry.development',
  });
  expect(buildConfig(buildKind([], able, 'darwin') as BuildKind, where)).toMatchObject({ forceCodeSigning: false, mac: { notarize: false } });
});

test.each([
  ['app/testing/world.ts', false], ['app/testing/demo/demo.ts', false], ['app/bench/stage.ts', false], ['main/testing/smoke-app.ts', false], ['app/events/hub.test.ts', false],
  ['app/cli/serve.ts', false], ['app/cli/belfry.ts', false], ['app/engine/page.ts', false], ['app/engine/page-session.ts', false], ['app/engine/browser-shell.ts', false],
  ['app/engine/engine.ts', true], ['app/cli/run-command.ts', true], ['main/main.ts', true],
])('%s may be part of what ships: %s', (path, may) => {
  expect(!NEVER_SHIPPED.test(`/src/${path}`)).toBe(may);
});

test('a word that is not known is refused', () => {
  expect(buildKind(['--relase'], able, 'darwin')).toEqual({ refused: '"--relase" is not known: "npm run dist" takes --release or --for-tests.' });
});

test('every fuse of Electron is decided, and only a build for tests can be inspected', () => {
  const all = Object.values(FuseV1Options).filter((value) => typeof value === 'number');
  for (const index of all) expect(typeof fuses()[index], `fuse ${index}`).toBe('boolean');
  expect(fuses()).toMatchObject({ strictlyRequireAllFuses: true, [FuseV1Options.EnableNodeCliInspectArguments]: false });
  expect(fuses(true)).toMatchObject({ [FuseV1Options.EnableNodeCliInspectArguments]: true, [FuseV1Options.RunAsNode]: false });
});

test('arbitrary loads are turned off, and a property list that is not as expected stops the build', () => {
  expect(withoutArbitraryLoads('<key>NSAllowsArbitraryLoads</key>\n\t<true/>')).toBe('<key>NSAllowsArbitraryLoads</key>\n\t<false/>');
  expect(() => withoutArbitraryLoads('<dict/>')).toThrow('NSAllowsArbitraryLoads');
});

describe('the signature', () => {
  const signed: [string, unknown][] = [];
  const tools = {
    codesign: (args: readonly string[]) => signed.push(['codesign', args]),
    signApp: (options: SignOptions) => {
      signed.push(['app', ['/A.app/Contents/MacOS/belfry-mcp', '/A.app/Contents/MacOS/A', '/A.app/x.kext'].filter((file) => options.ignore?.(file))]);
      return Promise.resolve();
    },
  };

  test('is given to the helper first, hardened and without entitlements; then the rest is signed around it', async () => {
    signed.length = 0;
    await sign({ app: '/A.app', identity: 'HASH', keychain: '/k', ignore: (file) => file.endsWith('.kext') }, null, tools);
    expect(signed).toEqual([
      ['codesign', ['--sign', 'HASH', '--force', '--identifier', 'dev.belfry.belfry-mcp', '--timestamp', '--options', 'runtime', '--keychain', '/k', '/A.app/Contents/MacOS/belfry-mcp']],
      ['app', ['/A.app/Contents/MacOS/belfry-mcp', '/A.app/x.kext']],
    ]);
  });

  test('of the app asks for just-in-time code and scripting, and of Electron\'s helpers for the first alone', () => {
    const keys = (file: string) => [...readFileSync(join(build, file), 'utf8').matchAll(/<key>([^<]+)<\/key>\s*<true\/>/g)].map(([, key]) => key);
    expect(keys('entitlements.mac.plist')).toEqual(['com.apple.security.cs.allow-jit', 'com.apple.security.automation.apple-events']);
    expect(keys('entitlements.mac.inherit.plist')).toEqual(['com.apple.security.cs.allow-jit']);
  });

  test('that lacks its team, holds entitlements it must not, or is not accepted by Gatekeeper is found', () => {
    const bad = (_command: string, args: readonly string[]) => args.includes('--entitlements') ? { status: 0, stdout: '<key>com.apple.security.cs.disable-library-validation</key>', stderr: '' }
      : { status: args.includes('--assess') ? 3 : 0, stdout: '', stderr: 'TeamIdentifier=OTHER12345' };
    expect(signatureFindings('/A.app', { kind: 'release', team: 'ABCDE12345' }, bad)).toEqual([
      'the helper carries entitlements', '/A.app is not signed by team ABCDE12345', '/A.app/Contents/MacOS/belfry-mcp is not signed by team ABCDE12345', 'library validation is off', 'Gatekeeper does not accept it',
    ]);
  });
});
