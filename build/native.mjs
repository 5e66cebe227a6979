// Builds the shim and the peer addon into dist/bin with the system's C compiler. Plain Node 20 or newer; runs by
// hand too: `node build/native.mjs [--variant FOLDER [-DNAME=VALUE ...]]`.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const mac = process.platform === 'darwin';
export const WARNINGS = ['-std=gnu11', '-Wall', '-Wextra', '-Wshadow', '-Wvla', '-Werror'];
const HARDENING = ['-O2', '-fstack-protector-strong', '-U_FORTIFY_SOURCE', '-D_FORTIFY_SOURCE=2'];
const LINUX_HARDENING = ['-Wl,-z,relro,-z,now', '-Wl,-z,noexecstack'];
export const SHIM_SOURCES = ['belfry-mcp.c', 'relay.c', 'conversation.c', 'command.c', 'engine-link.c', 'line-scanner.c', 'json-text.c'];
export const ADDON_SOURCES = ['peer-identity.c', 'process-facts.c', 'file-attribute.c'];
const FRAMEWORKS = mac ? ['-framework', 'CoreFoundation', '-framework', 'Security'] : [];
const ARCHS = mac ? ['-arch', 'arm64', '-arch', 'x86_64', '-mmacosx-version-min=13.0'] : [];

/** Compiler calls by output name. `defines` are added to the shim's, for variants that tests need. */
export function nativeTargets({ root, defines = [] }) {
  const sources = (names) => names.map((name) => join(root, 'app', 'native', name));
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  // A release names its team; without one the helper says that it checks no signature.
  const team = process.env.BELFRY_TEAM ? [`-DBELFRY_TEAM="${process.env.BELFRY_TEAM}"`] : [];
  return {
    'belfry-mcp': [
      ...WARNINGS, ...HARDENING, ...ARCHS, ...(mac ? [] : ['-fPIE', '-pie', ...LINUX_HARDENING]),
      `-DBELFRY_VERSION="${version}"`, ...team, ...defines, ...sources(SHIM_SOURCES), ...FRAMEWORKS,
    ],
    'peer-identity.node': [
      ...WARNINGS, ...HARDENING, ...ARCHS, '-fPIC', '-shared', ...(mac ? ['-undefined', 'dynamic_lookup'] : LINUX_HARDENING),
      '-DNAPI_VERSION=8', `-I${join(root, 'node_modules', 'node-api-headers', 'include')}`, ...sources(ADDON_SOURCES), ...(mac ? [] : ['-pthread']), ...FRAMEWORKS,
    ],
  };
}

/** @throws Error with a sentence for a person. */
export function compile(args, output) {
  const cc = process.env.CC || 'cc';
  const done = spawnSync(cc, [...args, '-o', output], { encoding: 'utf8' });
  if (done.error?.code === 'ENOENT') {
    throw new Error(`a C compiler is needed for the helper and "${cc}" was not found: install gcc or clang (on macOS: xcode-select --install).`);
  }
  if (done.error) throw new Error(`the C compiler "${cc}" could not be started: ${done.error.message}`);
  if (done.status !== 0) throw new Error(`the C compiler failed:\n${done.stderr}`);
}

/**
 * Builds what is missing or stale, by a hash of sources, flags and compiler.
 * @param folder where to; `dist/bin` unless it is a variant
 * @returns the folder
 */
export async function buildNative({ root, log, folder = join(root, 'dist', 'bin'), defines = [] }) {
  mkdirSync(folder, { recursive: true });
  const targets = nativeTargets({ root, defines });
  const hash = createHash('sha256').update(JSON.stringify([process.env.CC ?? 'cc', process.platform, process.arch, targets]));
  const sources = join(root, 'app', 'native');
  for (const name of readdirSync(sources).filter((file) => /\.[ch]$/.test(file)).sort()) {
    hash.update(`${name}\0`).update(readFileSync(join(sources, name)));
  }
  const wanted = hash.digest('hex');
  const stamp = join(folder, '.built');
  const complete = Object.keys(targets).every((name) => existsSync(join(folder, name)));
  if (complete && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return folder;
  log('compiling the helper and the peer check');
  for (const [name, args] of Object.entries(targets)) {
    const output = join(folder, name);
    // A helper that runs just now keeps its file.
    const fresh = `${output}.${process.pid}.new`;
    compile(args, fresh);
    renameSync(fresh, output);
  }
  writeFileSync(stamp, wanted);
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const variant = process.argv.indexOf('--variant');
  const root = dirname(dirname(fileURLToPath(import.meta.url)));
  const log = (line) => console.error(line);
  try {
    if (variant === -1) await buildNative({ root, log });
    else if (!process.argv[variant + 1]) throw new Error('--variant needs a folder.');
    else await buildNative({ root, log, folder: resolve(process.argv[variant + 1]), defines: process.argv.slice(variant + 2) });
  } catch (error) {
    console.error(error.message);
    process.exitCode = 1;
  }
}
