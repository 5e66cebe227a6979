import { fork } from 'node:child_process';
import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getCurrentFuseWire, FuseV1Options } from '@electron/fuses';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { RawClient } from '../../app/testing/raw-client.ts';
import { tempFolder, type TempFolder } from '../../app/testing/temp.ts';
import { openSettings } from '../../app/testing/world.ts';
import { startWriter } from '../../app/testing/writer-client.ts';
import { architectures, filesBelow, readArchive, readPlist } from '../app-bundle.mjs';
import { buildKind, makeApps, type BuildKind } from '../dist.mjs';
import { inspectApp, MAX_BYTES } from '../inspect-app.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const kind = buildKind([], {}, 'linux') as BuildKind;
const on = 49;
const off = 48;

// What is packed here is packed over a stand-in: a Mac's own run goes over Electron and is looked at by "npm run dist" itself.
describe.skipIf(process.platform === 'darwin')('the packaged app', () => {
  let folder: TempFolder;
  let apps: string[];

  beforeAll(async () => {
    folder = tempFolder('belfry-dist');
    apps = await makeApps(kind, { output: folder.at('one') });
  }, 300_000);
  afterAll(() => folder.remove());

  const each = () => apps.map((app) => {
    const contents = join(app, 'Contents');
    return { app, contents, plist: readPlist(readFileSync(join(contents, 'Info.plist'), 'utf8')), archive: readArchive(join(contents, 'Resources', 'app.asar')) };
  });

  test('is made for both architectures, each as it must be', async () => {
    expect(apps).toHaveLength(2);
    expect(apps.map((app) => architectures(readFileSync(join(app, 'Contents', 'MacOS', kind.name))))).toEqual([['arm64'], ['x64']]);
    for (const app of apps) {
      const { findings, bytes } = await inspectApp(app, kind);
      expect(findings).toEqual([]);
      expect(bytes).toBeLessThanOrEqual(MAX_BYTES);
    }
  });

  test('has its fuses set so that nobody borrows it as an interpreter', async () => {
    for (const app of apps) {
      expect(await getCurrentFuseWire(app)).toMatchObject({
        [FuseV1Options.RunAsNode]: off,
        [FuseV1Options.EnableCookieEncryption]: on,
        [FuseV1Options.EnableNodeOptionsEnvironmentVariable]: off,
        [FuseV1Options.EnableNodeCliInspectArguments]: off,
        [FuseV1Options.EnableEmbeddedAsarIntegrityValidation]: on,
        [FuseV1Options.OnlyLoadAppFromAsar]: on,
        [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: off,
        [FuseV1Options.GrantFileProtocolExtraPrivileges]: off,
      });
    }
  });

  test('carries the hash of its archive', () => {
    for (const { contents, plist } of each()) {
      const asar = readFileSync(join(contents, 'Resources', 'app.asar'));
      const header = asar.subarray(16, 16 + asar.readUInt32LE(12));
      expect(plist['ElectronAsarIntegrity']).toEqual({ 'Resources/app.asar': { algorithm: 'SHA256', hash: createHash('sha256').update(header).digest('hex') } });
    }
  });

  test('says to macOS what it is: no Dock icon, macOS 13, why it scripts Mail, no arbitrary loads, and a name that is not the release\'s', () => {
    for (const { plist } of each()) {
      expect(plist).toMatchObject({
        LSUIElement: true, LSMinimumSystemVersion: '13.0', CFBundleIdentifier: 'dev.belfry.Belfry.development', CFBundleName: 'Belfry Development',
        NSAppTransportSecurity: { NSAllowsArbitraryLoads: false }, NSAppleEventsUsageDescription: expect.stringMatching(/Mail or Messages/),
      });
    }
  });

  test('holds the helper beside its own program, runnable, for both architectures', () => {
    for (const { contents } of each()) {
      const helper = join(contents, 'MacOS', 'belfry-mcp');
      expect(statSync(helper).mode % 0o1000).toBe(0o755);
      expect(architectures(readFileSync(helper))).toEqual(['arm64', 'x64']);
    }
  });

  test('unpacks what is compiled, one SQLite and one peer check, and nothing else', () => {
    for (const { archive, contents } of each()) {
      const arch = architectures(readFileSync(join(contents, 'MacOS', kind.name)))[0]!;
      const unpacked = filesBelow(join(contents, 'Resources', 'app.asar.unpacked'));
      expect(unpacked).toEqual(['dist/bin/peer-identity.node', `dist/native/sqlite/prebuilds/darwin-${arch}.node`]);
      expect([...archive.files].filter(([, file]) => file.unpacked).map(([path]) => path).sort()).toEqual(unpacked);
      for (const path of unpacked) expect(architectures(archive.files.get(path)!.data)).toContain(arch);
    }
  });

  test('has no switch of development, no source map, no path of this machine and no fixture in any file', () => {
    for (const { archive } of each()) {
      for (const [path, { data }] of archive.files) {
        const text = data.toString('latin1');
        for (const word of ['--trust-local-clients', 'sourceMappingURL', root, 'fixtureSession', 'BELFRY_ENGINE_NODE', '--mail-dir=']) expect(text.includes(word), `${path} holds ${word}`).toBe(false);
        expect(path).not.toMatch(/\.(?:map|ts|test\.js)$/);
      }
    }
  });

  test('holds an engine that runs, and lets no client in that nobody allowed, whatever it is told', async () => {
    const [{ archive }] = each() as [ReturnType<typeof each>[number]];
    const place = folder.at('unpacked');
    for (const [path, { data }] of archive.files) {
      mkdirSync(dirname(join(place, path)), { recursive: true });
      writeFileSync(join(place, path), data);
    }
    // The compiled parts are for macOS: this system's own take their places.
    const { name: sqlite } = JSON.parse(archive.files.get('dist/native/sqlite/package.json')!.data.toString('utf8')) as { name: string };
    const prebuilds = join(root, 'node_modules', sqlite, 'prebuilds');
    for (const name of readdirSync(prebuilds).filter((each) => each.startsWith('linux'))) cpSync(join(prebuilds, name), join(place, 'dist', 'native', 'sqlite', 'prebuilds', name));
    cpSync(join(root, 'dist', 'bin', 'peer-identity.node'), join(place, 'dist', 'bin', 'peer-identity.node'));
    const writer = await startWriter({ mailDir: folder.at('Mail', 'V10'), messagesDb: folder.at('chat.db') });
    mkdirSync(folder.at('data'));
    writeFileSync(folder.at('data', 'settings.json'), JSON.stringify(openSettings));
    const engine = fork(join(place, 'dist', 'engine.js'), [], { stdio: 'ignore' });
    try {
      const ready = new Promise<string>((resolve, reject) => {
        engine.on('message', (message: Record<string, unknown>) => {
          if (typeof message['ready'] === 'string') resolve(message['ready']);
          if (typeof message['failed'] === 'string') reject(new Error(message['failed']));
        });
        engine.on('exit', (code) => reject(new Error(`The engine ended with ${code}.`)));
      });
      engine.send({ start: { dataDir: folder.at('data'), mailDir: folder.at('Mail', 'V10'), messagesDb: folder.at('chat.db'), trustLocalClients: true }, kind: 'serve' });
      const client = new RawClient(await ready);
      const answer = await client.request('events/poll', { name: 'mail.received', arguments: { domains: ['example.org'] }, cursor: null });
      expect(answer).toMatchObject({ error: { data: { reason: 'approval' } } });
      await client.end();
    } finally {
      engine.removeAllListeners('exit');
      engine.kill();
      await writer.stop();
    }
  });

  test('carries no updater where no feed is configured', () => {
    for (const { archive } of each()) {
      expect(archive.files.get('dist/main/main.js')!.data.includes('latest-mac')).toBe(false);
    }
  });

  test('made twice, every file has the same bytes', async () => {
    const hashes = (all: readonly string[]) => all.map((app) => filesBelow(app).map((path) => `${path} ${statSync(join(app, path)).isFile() ? createHash('sha256').update(readFileSync(join(app, path))).digest('hex') : ''}`));
    const first = hashes(apps);
    expect(hashes(await makeApps(kind, { output: folder.at('two') }))).toEqual(first);
    rmSync(folder.at('two'), { recursive: true });
  }, 300_000);
});
