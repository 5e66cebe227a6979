// What must hold of a packed app, as findings in words: none is right. The same on Linux over the stand-in and on a Mac over
// Electron, where signatures come on top. By hand: `node build/inspect-app.mjs PATH/TO/Belfry.app`.
import { createHash } from 'node:crypto';
import { spawnSync } from 'node:child_process';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { getCurrentFuseWire, FuseV1Options } from '@electron/fuses';
import { fuses } from './after-pack.mjs';
import { architectures, filesBelow, readArchive, readPlist } from './app-bundle.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Besides Electron itself. */
export const MAX_BYTES = 5_500_000;

/** Parts of a bundle are named by their content, so the list of what ships names them by their kind. */
export const withoutHash = (path) => path.replace(/((?:page\/assets|dist\/chunks)\/)[^/]+-[A-Za-z0-9_-]{8}(\.(?:js|css|svg))$/, '$1*$2');

/** @returns what ships, one path a line: of the archive below `app.asar/`, of the bundle below `Contents/` */
export const shippedList = () => readFileSync(join(root, 'build', 'shipped-files.txt'), 'utf8').split('\n').filter((line) => line !== '' && !line.startsWith('#'));

/** What no file of ours may hold, by the words of a finding. */
const FORBIDDEN = [
  ['a switch of development', /--trust-local-clients|--local-webhooks|BELFRY_ENGINE_NODE/],
  ['a source map', /\/\/[#@] sourceMappingURL=/],
  ['a path of the machine that built it', new RegExp(root.replace(/[.*+?^${}()|[\]\\]/g, '\\$&'))],
  ['test code', /\bfrom ?["']vitest["']|fixtureSession/],
];

const OF_ELECTRON = [/^Contents\/Frameworks\//, /^Contents\/PkgInfo$/, /^Contents\/Info\.plist$/, /^Contents\/Resources\/[^/]+\.lproj\//, /^Contents\/_CodeSignature\//, /^Contents\/CodeResources$/];

/**
 * @param kind what `buildKind` says of the build
 * @returns {Promise<{findings: string[], bytes: number, files: string[]}>} bytes and files besides Electron itself
 */
export async function inspectApp(app, kind) {
  const findings = [];
  const must = (holds, finding) => { if (!holds) findings.push(finding); };
  const contents = join(app, 'Contents');
  const arch = architectures(readFileSync(join(contents, 'MacOS', kind.name)))[0];
  const tested = kind.kind === 'tests';

  const plist = readPlist(readFileSync(join(contents, 'Info.plist'), 'utf8'));
  const wanted = {
    CFBundleIdentifier: kind.appId, CFBundleName: kind.name, CFBundleExecutable: kind.name, LSUIElement: true, LSMinimumSystemVersion: '13.0', CFBundleIconFile: 'icon.icns',
    CFBundleShortVersionString: JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version,
  };
  for (const [key, value] of Object.entries(wanted)) must(plist[key] === value, `Info.plist says ${key} = ${JSON.stringify(plist[key])} and not ${JSON.stringify(value)}`);
  must(typeof plist.NSAppleEventsUsageDescription === 'string' && plist.NSAppleEventsUsageDescription !== '', 'Info.plist does not say why Mail and Messages are scripted');
  must(plist.NSAppTransportSecurity?.NSAllowsArbitraryLoads === false, 'Info.plist allows arbitrary loads');

  const wire = await getCurrentFuseWire(app);
  for (const [name, index] of Object.entries(FuseV1Options).filter(([, value]) => typeof value === 'number')) {
    must(wire[index] === (fuses(tested)[index] ? 49 : 48), `the fuse ${name} is not ${fuses(tested)[index] ? 'on' : 'off'}`);
  }

  const archive = readArchive(join(contents, 'Resources', 'app.asar'));
  const integrity = plist.ElectronAsarIntegrity?.['Resources/app.asar'];
  must(integrity?.algorithm === 'SHA256' && integrity.hash === archive.headerHash, 'Info.plist does not carry the hash of the archive');
  for (const [path, { hash, data, unpacked }] of archive.files) {
    must(hash === createHash('sha256').update(data).digest('hex'), `the archive's hash of ${path} is not that of its content`);
    must(unpacked === path.endsWith('.node'), unpacked ? `${path} is unpacked` : `${path} is not unpacked`);
    if (unpacked) must(statSync(join(`${contents}/Resources/app.asar.unpacked`, path)).mode % 0o1000 <= 0o755, `others may write ${path}`);
  }

  const bundle = filesBelow(app).filter((path) => !OF_ELECTRON.some((ours) => ours.test(path)) && path !== `Contents/MacOS/${kind.name}` && !path.startsWith('Contents/Resources/app.asar'));
  const files = [...new Set([...[...archive.files.keys()].map((path) => withoutHash(`app.asar/${path}`)), ...bundle])].sort();
  // The updater reads from it where it may keep what it fetches.
  const list = [...shippedList().map((path) => path.replace('{arch}', arch)), ...(kind.feed ? ['Contents/Resources/app-update.yml'] : [])];
  if (!tested) {
    for (const path of files) must(list.includes(path), `${path} ships and is not in build/shipped-files.txt`);
    for (const path of list) must(files.includes(path), `${path} does not ship`);
  }

  const helper = join(contents, 'MacOS', 'belfry-mcp');
  must(statSync(helper).mode % 0o1000 === 0o755, 'the helper is not of mode 755');
  must(architectures(readFileSync(helper)).join() === 'arm64,x64', 'the helper is not for both architectures');
  for (const [path, { data }] of archive.files) {
    if (!path.endsWith('.node')) continue;
    must(architectures(data).includes(arch), `${path} is not for ${arch}`);
  }
  must(architectures(archive.files.get('dist/bin/peer-identity.node')?.data ?? Buffer.alloc(0)).join() === 'arm64,x64', 'the peer addon is not for both architectures');

  const texts = [...archive.files].filter(([path]) => !path.endsWith('.png')).map(([path, { data }]) => [path, data]);
  for (const [path, data] of [...texts, ['Contents/MacOS/belfry-mcp', readFileSync(helper)]]) {
    const text = data.toString('latin1');
    for (const [what, pattern] of FORBIDDEN) if (!tested || what.includes('path')) must(!pattern.test(text), `${path} holds ${what}`);
  }
  const bytes = [...archive.files.values()].reduce((sum, { data }) => sum + data.length, 0) + bundle.reduce((sum, path) => sum + statSync(join(app, path)).size, 0);
  must(tested || bytes <= MAX_BYTES, `${bytes} bytes besides Electron, and at most ${MAX_BYTES} may be`);
  must(readFileSync(join(contents, 'Resources', 'NOTICE'), 'utf8').includes('better-sqlite3'), 'NOTICE names no licences');
  if (process.platform === 'darwin') findings.push(...signatureFindings(app, kind));
  return { findings, bytes, files };
}

/** On a Mac: what codesign and spctl say. A development build is signed by nobody, which still has to hold. */
export function signatureFindings(app, { kind, team }, run = spawnSync) {
  const said = (command, ...args) => {
    const { status, stdout, stderr } = run(command, args, { encoding: 'utf8' });
    return { ok: status === 0, text: `${stdout ?? ''}${stderr ?? ''}` };
  };
  const findings = [];
  const helper = join(app, 'Contents', 'MacOS', 'belfry-mcp');
  const whole = said('/usr/bin/codesign', '--verify', '--deep', '--strict', app);
  if (!whole.ok) findings.push(`the signature does not hold: ${whole.text.trim()}`);
  if (/<key>/.test(said('/usr/bin/codesign', '--display', '--entitlements', '-', '--xml', helper).text)) findings.push('the helper carries entitlements');
  if (kind !== 'release') return findings;
  for (const path of [app, helper]) if (!said('/usr/bin/codesign', '--display', '--verbose=4', path).text.includes(`TeamIdentifier=${team}`)) findings.push(`${path} is not signed by team ${team}`);
  if (/disable-library-validation/.test(said('/usr/bin/codesign', '--display', '--entitlements', '-', '--xml', app).text)) findings.push('library validation is off');
  if (!said('/usr/sbin/spctl', '--assess', '--type', 'execute', app).ok) findings.push('Gatekeeper does not accept it');
  return findings;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const app = process.argv[2];
  const name = /([^/]+)\.app\/?$/.exec(app ?? '')?.[1];
  if (!name) {
    console.error('inspect-app takes the path of an app.');
    process.exit(3);
  }
  const release = name === 'Belfry';
  const { findings, files, bytes } = await inspectApp(app, { kind: release ? 'release' : 'development', name, team: process.env.BELFRY_TEAM ?? '', feed: process.env.BELFRY_FEED ?? '', appId: release ? 'dev.belfry.Belfry' : 'dev.belfry.Belfry.development' });
  for (const line of files) console.log(line);
  console.log(`${bytes} bytes besides Electron`);
  for (const finding of findings) console.log(`not as it must be: ${finding}`);
  process.exit(findings.length === 0 ? 0 : 1);
}
