// Builds the shim and the peer addon into dist/bin with the system's C compiler. Plain Node, runs by hand too.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const WARNINGS = ['-std=gnu11', '-Wall', '-Wextra', '-Wshadow', '-Wvla', '-Werror', '-O2', '-fstack-protector-strong', '-D_FORTIFY_SOURCE=2'];
const SHIM = ['main.c', 'belfry-mcp.c', 'engine-link.c', 'line-scanner.c'];
const mac = process.platform === 'darwin';
const frameworks = mac ? ['-framework', 'CoreFoundation', '-framework', 'Security'] : [];

/** Compiler calls by output name. `defines` are added to the shim's, for variants that tests need. */
export function nativeTargets({ root, defines = [] }) {
  const source = (name) => join(root, 'app', 'native', name);
  const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const team = process.env.BELFRY_TEAM ? [`-DBELFRY_TEAM="${process.env.BELFRY_TEAM}"`] : [];
  return {
    'belfry-mcp': [
      ...WARNINGS, `-DBELFRY_VERSION="${version}"`, ...team, ...defines, ...SHIM.map(source),
      ...(mac ? ['-arch', 'arm64', '-arch', 'x86_64'] : ['-pie', '-fPIE', '-Wl,-z,relro,-z,now']), ...frameworks,
    ],
    'peer-identity.node': [
      ...WARNINGS, '-fPIC', '-shared', '-DNAPI_VERSION=8', `-I${join(root, 'node_modules', 'node-api-headers', 'include')}`, source('peer-identity.c'),
      ...(mac ? ['-undefined', 'dynamic_lookup'] : []), ...frameworks,
    ],
  };
}

export function compile(args, output) {
  const cc = process.env.CC || 'cc';
  const done = spawnSync(cc, [...args, '-o', output], { encoding: 'utf8' });
  if (done.error?.code === 'ENOENT') {
    throw new Error(`a C compiler is needed for the helper and "${cc}" was not found: install gcc or clang (on macOS: xcode-select --install).`);
  }
  if (done.status !== 0) throw new Error(`the C compiler failed:\n${done.stderr}`);
}

export async function buildNative({ root, log }) {
  const folder = join(root, 'dist', 'bin');
  mkdirSync(folder, { recursive: true });
  const targets = nativeTargets({ root });
  const hash = createHash('sha256').update(JSON.stringify(targets));
  const sources = join(root, 'app', 'native');
  for (const name of readdirSync(sources).filter((file) => /\.[ch]$/.test(file)).sort()) hash.update(readFileSync(join(sources, name)));
  const wanted = hash.digest('hex');
  const stamp = join(folder, '.built');
  const complete = Object.keys(targets).every((name) => existsSync(join(folder, name)));
  if (complete && existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  log('compiling the helper and the peer check');
  for (const [name, args] of Object.entries(targets)) compile(args, join(folder, name));
  writeFileSync(stamp, wanted);
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  await buildNative({ root: dirname(dirname(fileURLToPath(import.meta.url))), log: (line) => console.error(line) });
}
