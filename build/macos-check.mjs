// Compiles and links the helper and the peer addon for macOS with LLVM's clang and lld on Linux. A check that their macOS
// branches are whole, against our own declarations (macos-check/declarations.h says what that shows and what not). The
// result goes into the stand-in app that "npm run dist" makes here; a release is built by Apple's clang on a Mac.
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { tmpdir } from 'node:os';
import { fileURLToPath } from 'node:url';
import { ADDON_SOURCES, SHIM_SOURCES, WARNINGS } from './native.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const HEADERS = [
  'errno.h', 'fcntl.h', 'inttypes.h', 'libproc.h', 'limits.h', 'poll.h', 'pthread.h', 'pwd.h', 'signal.h', 'spawn.h', 'stdio.h', 'stdlib.h', 'string.h', 'time.h', 'unistd.h',
  'sys/random.h', 'sys/socket.h', 'sys/stat.h', 'sys/sysctl.h', 'sys/types.h', 'sys/un.h', 'sys/time.h', 'sys/xattr.h', 'mach/message.h', 'mach-o/dyld.h', 'CoreFoundation/CoreFoundation.h', 'Security/Security.h',
];
/** Our names of the architectures, with the linker's and the addon's in npm's words. */
export const MAC_ARCHS = ['arm64', 'x86_64'];

/** A tool by its plain or its versioned name, as Debian installs them. */
function tool(name) {
  const names = readdirSync('/usr/bin').filter((file) => file === name || file.replace(/-\d+$/, '') === name).sort();
  return names.length > 0 ? join('/usr/bin', names[0]) : null;
}
const tools = () => ({ clang: tool('clang'), lld: tool('ld64.lld'), lipo: tool('llvm-lipo') });

/** @returns {{clang: string, lld: string, lipo: string} | {skipped: string}} */
export function macTools(say) {
  if (process.platform !== 'linux') return { skipped: 'it is a check for Linux; on a Mac the real compiler is there' };
  const whole = () => Object.values(tools()).every((path) => path !== null);
  if (!whole() && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    say('installing clang, lld and llvm for the check that the helper compiles for macOS');
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('apt-get', ['update', '-q'], { env, stdio: 'ignore' });
    spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'clang', 'lld', 'llvm'], { env, stdio: 'ignore' });
  }
  return whole() ? tools() : { skipped: 'no clang, lld and llvm here, and they cannot be installed without root and apt' };
}

function run(command, args) {
  const { status, stderr, error } = spawnSync(command, args, { encoding: 'utf8' });
  if (status !== 0) throw new Error(`The check for macOS failed:\n${error?.message ?? stderr}`);
}

/** The functions of Node-API that the headers declare. */
function nodeFunctions() {
  const headers = ['js_native_api.h', 'node_api.h'].map((name) => readFileSync(join(root, 'node_modules', 'node-api-headers', 'include', name), 'utf8')).join('\n');
  return [...new Set([...headers.matchAll(/\b(napi_[a-z0-9_]+)\(/g)].map(([, name]) => name))];
}

const tbd = (path, symbols) => `--- !tapi-tbd
tbd-version: 4
targets: [ arm64-macos, x86_64-macos ]
install-name: '${path}'
exports:
  - targets: [ arm64-macos, x86_64-macos ]
    symbols: [ ${symbols.map((name) => `'${name}'`).join(', ')} ]
...
`;

/**
 * @param folder where `belfry-mcp` and `peer-identity.node` go, each with both architectures
 * @param team as in a release, or ''
 * @throws Error with the compiler's or the linker's words
 */
export function crossBuild({ folder, tools: { clang, lld, lipo }, team = '' }) {
  const work = mkdtempSync(join(tmpdir(), 'belfry-macos-'));
  try {
    const include = join(work, 'include');
    for (const name of HEADERS) {
      mkdirSync(dirname(join(include, name)), { recursive: true });
      writeFileSync(join(include, name), `#include "${join(root, 'build', 'macos-check', 'declarations.h')}"\n`);
    }
    const libraries = Object.entries(JSON.parse(readFileSync(join(root, 'build', 'macos-check', 'symbols.json'), 'utf8'))).map(([path, symbols], at) => {
      const file = join(work, `${at}.tbd`);
      writeFileSync(file, tbd(path, symbols));
      return file;
    });
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
    const defines = [`-DBELFRY_VERSION="${version}"`, '-DNAPI_VERSION=8', ...(team === '' ? [] : [`-DBELFRY_TEAM="${team}"`])];
    const headers = ['-nostdlibinc', '-isystem', include, `-I${join(root, 'node_modules', 'node-api-headers', 'include')}`];
    mkdirSync(folder, { recursive: true });
    const targets = [
      ['belfry-mcp', SHIM_SOURCES, ['-execute']],
      // Node's own functions are found when it is loaded; nothing else may be missing.
      ['peer-identity.node', ADDON_SOURCES, ['-bundle', ...nodeFunctions().flatMap((name) => ['-U', `_${name}`])]],
    ];
    for (const [name, sources, kind] of targets) {
      const slices = MAC_ARCHS.map((arch) => {
        const objects = sources.map((source) => {
          const object = join(work, `${arch}-${source}.o`);
          run(clang, ['-target', `${arch}-apple-macos13.0`, ...WARNINGS, '-O2', '-fstack-protector-strong', ...defines, ...headers, '-c', join(root, 'app', 'native', source), '-o', object]);
          return object;
        });
        const slice = join(work, `${name}-${arch}`);
        run(lld, ['-arch', arch, '-platform_version', 'macos', '13.0', '13.0', ...kind, '-adhoc_codesign', ...objects, ...libraries, '-o', slice]);
        return slice;
      });
      run(lipo, ['-create', ...slices, '-output', join(folder, name)]);
    }
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const found = macTools((line) => console.error(line));
  if ('skipped' in found) console.log(`skipped: ${found.skipped}`);
  else {
    const folder = join(root, 'dist', 'macos-check');
    try {
      // With a team the helper checks signatures, without one it says that it does not: two programs.
      for (const team of ['ABCDE12345', '']) crossBuild({ folder, tools: found, team });
      console.log(`the helper and the peer addon compile for macOS (${MAC_ARCHS.join(', ')}): ${folder}`);
    } catch (error) {
      console.error(error.message);
      process.exitCode = 1;
    }
  }
}
