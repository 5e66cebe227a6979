// The packaged app. On a Mac: disk images and update archives. Elsewhere: the unpacked apps over a stand-in for Electron, and
// the same checks of what is in them. `--release` makes a release and refuses where one cannot be signed and notarised;
// without it the result is a development build that is another app to macOS and shares nothing with a release.
// `--for-tests` keeps the switches of development and the inspector, so that Playwright can drive the real bundle.
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { stageApp } from './app-stage.mjs';
import { inspectApp } from './inspect-app.mjs';
import { crossBuild, macTools } from './macos-check.mjs';
import { buildNative } from './native.mjs';
import { billOfMaterials } from './sbom.mjs';
import { fatStub, makeStandIn } from './stand-in-electron.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const say = (line) => process.stdout.write(`${line}\n`);
export const ARCHS = ['arm64', 'x64'];

const NOTARY = ['APPLE_API_KEY', 'APPLE_API_KEY_ID', 'APPLE_API_ISSUER'];
const FEED = /^https:\/\/[^\s"'\\]+$/;

/**
 * What kind of build this is, from the command line and the environment.
 * @returns {{kind: 'release' | 'development' | 'tests', team: string, feed: string, name: string, appId: string} | {refused: string}}
 */
export function buildKind(args, env, platform) {
  const unknown = args.find((arg) => !['--release', '--for-tests'].includes(arg));
  if (unknown !== undefined) return { refused: `"${unknown}" is not known: "npm run dist" takes --release or --for-tests.` };
  const feed = env.BELFRY_FEED ?? '';
  if (feed !== '' && !FEED.test(feed)) return { refused: 'BELFRY_FEED must be an https address: updates come from it.' };
  if (!args.includes('--release')) {
    // A team in the environment would make an unsigned build look like a signed one to itself.
    const kind = args.includes('--for-tests') ? 'tests' : 'development';
    return { kind, team: '', feed: '', name: 'Belfry Development', appId: 'dev.belfry.Belfry.development' };
  }
  if (args.includes('--for-tests')) return { refused: 'A release is never built for tests: leave out --for-tests.' };
  if (platform !== 'darwin') return { refused: 'A release is made on a Mac: signing and disk images need its tools.' };
  if (!/^[A-Z0-9]{10}$/.test(env.BELFRY_TEAM ?? '')) return { refused: 'A release needs BELFRY_TEAM, the ten characters of the Developer ID team.' };
  if (!env.CSC_LINK && !env.CSC_NAME) return { refused: 'A release needs a Developer ID Application identity: CSC_LINK with CSC_KEY_PASSWORD, or CSC_NAME of one in the keychain.' };
  const missing = NOTARY.filter((name) => !env[name]);
  if (missing.length > 0) return { refused: `A release is notarised, which needs ${missing.join(', ')}.` };
  return { kind: 'release', team: env.BELFRY_TEAM, feed, name: 'Belfry', appId: 'dev.belfry.Belfry' };
}

/** The packager's settings that this build adds to electron-builder.yml. */
export function buildConfig({ kind, feed, name, appId }, { output, version, electronDist = null }) {
  const release = kind === 'release';
  return {
    extends: join(root, 'electron-builder.yml'),
    appId, productName: name,
    electronVersion: version,
    ...(electronDist !== null && { electronDist }),
    directories: { app: 'dist/app', output, buildResources: 'build' },
    // Never published from here: a release's files are looked at first. With a feed the app carries no address of its own.
    publish: feed === '' ? null : [{ provider: 'generic', url: feed }],
    // dist/app is whole: the packager is not to look for packages, rebuild them or add any.
    beforeBuild: () => Promise.resolve(false),
    forceCodeSigning: release,
    mac: release ? { notarize: true } : {
      // "-" is a signature by nobody, without which Apple silicon runs nothing. Nobody's libraries are of no team, so the
      // hardened runtime would refuse them.
      identity: process.platform === 'darwin' ? '-' : null, hardenedRuntime: false, notarize: false, timestamp: 'none',
    },
  };
}

async function nativeParts(team) {
  const folder = join(root, 'dist', 'app-bin');
  rmSync(folder, { recursive: true, force: true });
  if (process.platform === 'darwin') {
    process.env.BELFRY_TEAM = team;
    await buildNative({ root, log: say, folder });
    return folder;
  }
  const tools = macTools(say);
  if (!('skipped' in tools)) {
    crossBuild({ folder, tools, team });
    say('the helper and the peer addon compile for macOS, against our own declarations');
    return folder;
  }
  say(`skipped: the check that the helper compiles for macOS (${tools.skipped})`);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'belfry-mcp'), fatStub(2), { mode: 0o755 });
  writeFileSync(join(folder, 'peer-identity.node'), fatStub(8));
  return folder;
}

/** @param options.output folder; emptied first @returns {Promise<string[]>} the unpacked apps, by architecture */
export async function makeApps(kind, { output = join(root, 'dist', kind.kind === 'tests' ? 'release-for-tests' : 'release') } = {}) {
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules', 'electron', 'package.json'), 'utf8'));
  rmSync(output, { recursive: true, force: true });
  const folder = await nativeParts(kind.team);
  const notice = await stageApp({ folder: join(root, 'dist', 'app'), addon: join(folder, 'peer-identity.node'), shipped: kind.kind !== 'tests', team: kind.team, feed: kind.feed, product: kind.name });
  writeFileSync(join(folder, 'NOTICE'), notice);
  process.env.BELFRY_FOR_TESTS = kind.kind === 'tests' ? '1' : '';
  const { Arch, build, Platform } = await import('electron-builder');
  const mac = process.platform === 'darwin';
  const archs = kind.kind === 'tests' ? [process.arch === 'arm64' ? 'arm64' : 'x64'] : ARCHS;
  const electronDist = mac ? null : ({ arch }) => makeStandIn({ folder: join(root, '.cache', 'stand-in-electron', arch), arch, version });
  const target = mac && kind.kind !== 'tests' ? undefined : 'dir';
  // Both at once: the feed's file names the archives of one call.
  await build({ targets: Platform.MAC.createTarget(target, ...archs.map((arch) => Arch[arch])), projectDir: root, config: buildConfig(kind, { output, version, electronDist }), publish: 'never' });
  return archs.map((arch) => join(output, arch === 'x64' ? 'mac' : `mac-${arch}`, `${kind.name}.app`));
}

/** The notary's key comes as a file's path or, where secrets are only variables, as the file's text. */
async function withNotaryKey(work) {
  const text = process.env.APPLE_API_KEY ?? '';
  if (!text.includes('PRIVATE KEY')) return work();
  const folder = mkdtempSync(join(tmpdir(), 'belfry-notary-'));
  try {
    process.env.APPLE_API_KEY = join(folder, 'key.p8');
    writeFileSync(process.env.APPLE_API_KEY, text, { mode: 0o600 });
    return await work();
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main() {
  const kind = buildKind(process.argv.slice(2), process.env, process.platform);
  if ('refused' in kind) {
    process.stderr.write(`dist: ${kind.refused}\n`);
    return 2;
  }
  if (kind.kind !== 'release') say('*** UNSIGNED DEVELOPMENT BUILD: not for other people. It has its own name, bundle id, data folder and socket. ***');
  const started = Date.now();
  const apps = await withNotaryKey(() => makeApps(kind));
  writeFileSync(join(apps[0], '..', '..', 'belfry.cdx.json'), `${JSON.stringify(billOfMaterials(), null, 2)}\n`);
  let broken = 0;
  for (const app of apps) {
    const { findings, bytes, files } = await inspectApp(app, kind);
    for (const finding of findings) say(`not as it must be: ${finding}`);
    broken += findings.length;
    say(`${relative(root, app)}: ${files.length} files of ours, ${(bytes / 1e6).toFixed(1)} MB besides Electron, ${findings.length === 0 ? 'as it must be' : `${findings.length} findings`}`);
  }
  if (kind.kind !== 'release') say('*** UNSIGNED DEVELOPMENT BUILD ***');
  say(`dist: ${((Date.now() - started) / 1000).toFixed(1)} s`);
  return broken === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.exit(await main());
