import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** A client as its maker publishes it on npm, or why it is not here. */
export type PublishedClient =
  | { readonly title: string; readonly command: readonly string[]; readonly missing: null }
  | { readonly title: string; readonly missing: string };

interface Package {
  readonly name: string;
  readonly version: string;
  readonly integrity: string;
  /** The program inside the package. */
  readonly program: string;
  /** A lock file beside this one, where the package needs others. */
  readonly lock?: string;
}

interface Entry {
  readonly title: string;
  readonly version: string;
  /** By platform and processor, or one for all: then it runs on Node. */
  readonly packages: Readonly<Record<string, Package>> | Package;
}

const CLAUDE = '2.1.332';
const CODEX = '0.171.0';
const OPENCODE = '1.18.33';

const claude = (platform: string, integrity: string): Package => ({ name: `@anthropic-ai/claude-code-${platform}`, version: CLAUDE, integrity, program: 'claude' });
const codex = (platform: string, target: string, integrity: string): Package => ({ name: '@openai/codex', version: `${CODEX}-${platform}`, integrity, program: `vendor/${target}/bin/codex` });
const openCode = (platform: string, integrity: string): Package => ({ name: `opencode-${platform}`, version: OPENCODE, integrity, program: 'bin/opencode' });

/** Exact versions, with the registry's own hashes. Downloads for linux-x64, in MB: 186, 172, 60, 27, 21. */
const entries = {
  'claude-code': {
    title: 'Claude Code', version: CLAUDE,
    packages: {
      'linux-x64': claude('linux-x64', 'sha512-f4JWhzwYutJIHScC7/dYOPX6s28tt7ZADhsOi8zwOHq5fFPEuUeChh2NMfinSg0GrUckYxaeebC4h0DqiKzLcw=='),
      'linux-arm64': claude('linux-arm64', 'sha512-BlHNEtK38KBPWU31F4lUSS9sHclCyfWbThT1CErvxxH8+XcljYLZlQwdyXBkTD62rw1TgfE1u1a+quMWS0NSJg=='),
      'darwin-x64': claude('darwin-x64', 'sha512-i0GV2ejBOeHMXs+XPCd1IaJj1GV3VdZl8hiQD6hLMR/N7f4Nt8q4Edj1GYJCKXPLJa/zsE9Uv6r9rZ/ldVFQPQ=='),
      'darwin-arm64': claude('darwin-arm64', 'sha512-L/F5mypyB7SK59cesiAqGv1bVNd+8xTn0LF5kV6EGL6UMhofVJMFlokhDRoxNzANNC5i/5JdzfJyDOKUbZObiA=='),
    },
  },
  codex: {
    title: 'Codex', version: CODEX,
    packages: {
      'linux-x64': codex('linux-x64', 'x86_64-unknown-linux-musl', 'sha512-l66NZkQgdk2C3pbcfULDz42yEUB581MVA6I+Y43Wp4OIqEy73HCdmZ0GTjeAHY2ycuH4N00d9VsLrwT1jxshTw=='),
      'linux-arm64': codex('linux-arm64', 'aarch64-unknown-linux-musl', 'sha512-9z17t4bbUJ9UCIb49O4PoA+ki+45q3rd8nZ8PeH6sYnlKkBld/Xpo/OS3h3Ti954+foshX4o7k5TCU8N7zzqQA=='),
      'darwin-x64': codex('darwin-x64', 'x86_64-apple-darwin', 'sha512-pwN5uNEKx/mZjwBEf/6CKq6SJMfJS5kruV3sJQAk7ebIPvC58Ote3CicIxETDZtjLj35rNv3PLPd7mHCg6hGPw=='),
      'darwin-arm64': codex('darwin-arm64', 'aarch64-apple-darwin', 'sha512-hIYTkRUpuYpkVfTq4cpby0PXqhAVcIgE7f6FoyY1lt2RyARj3GXS1Can/dIYUBItVhXzhb98HYHZNzCX74QRlQ=='),
    },
  },
  opencode: {
    title: 'OpenCode', version: OPENCODE,
    packages: { 'linux-x64': openCode('linux-x64', 'sha512-q/t/3p2CTxOT9y2kvjesb/LZab2+1eqlhhWA02Be6mjTtmYtNBcBsrI5yDo4Fw7ZSPBW2oyMIGMNRqiKQjiAWw==') },
  },
  inspector: {
    title: 'MCP Inspector', version: '2.12.0',
    packages: {
      name: '@modelcontextprotocol/inspector', version: '2.12.0', program: 'clients/cli/build/index.js', lock: 'inspector.lock.json',
      integrity: 'sha512-ppfN5+HnVWo6dY7jz5RMFUFTfEYPnFUjN3XN2w6PI6nmB/AFFXPGPfLBRvCeSx+qIH6kpi7Nsz5HYRp49loHpA==',
    },
  },
  'gemini-cli': {
    title: 'Gemini CLI', version: '0.61.0',
    packages: {
      name: '@google/gemini-cli', version: '0.61.0', program: 'bundle/gemini.js',
      integrity: 'sha512-dbQ9A0qBtFJNi6XBkHvfZ6Azpn6PNgH/P8h2MZ67RLlX8hSAVjup39CRWqdRxZv7YXIuhrFaytr8y0jKnkoxnQ==',
    },
  },
} as const satisfies Record<string, Entry>;

export type ClientId = keyof typeof entries;
export const clientIds = Object.keys(entries) as readonly ClientId[];

const cache = fileURLToPath(new URL('../../../.cache/clients/', import.meta.url));
/** Inside the draft: hundreds of MB more in the user's own npm cache would help nobody. */
const NPM_CACHE = '.npm';
/** A registry that does not answer must not hold the tests for longer, in ms. */
const PATIENCE = 300_000;

/**
 * The client from the cache folder, fetched into it once. No install script runs. A client that cannot be had is
 * given with the reason; one whose bytes are not those of the table is an error.
 */
export async function publishedClient(id: ClientId): Promise<PublishedClient> {
  const { title, version, packages }: Entry = entries[id];
  const platform = `${process.platform}-${process.arch}`;
  const wanted = 'name' in packages ? packages as Package : (packages as Readonly<Record<string, Package>>)[platform];
  const named = `${title} ${version}`;
  if (!wanted) return { title: named, missing: `no package for ${platform} is listed` };
  const folder = join(cache, `${id}-${wanted.version}`);
  if (!existsSync(folder)) {
    const trouble = await fetchInto(folder, wanted);
    if (trouble !== null) return { title: named, missing: trouble };
  }
  const program = join(folder, 'node_modules', wanted.name, wanted.program);
  return { title: named, command: 'name' in packages ? [process.execPath, program] : [program], missing: null };
}

async function fetchInto(folder: string, { name, version, integrity, lock }: Package): Promise<string | null> {
  mkdirSync(cache, { recursive: true });
  const draft = mkdtempSync(join(cache, '.draft-'));
  try {
    const dependencies = { [name]: version };
    const tarball = `https://registry.npmjs.org/${name}/-/${name.split('/').at(-1)!}-${version}.tgz`;
    const packages = lock === undefined
      ? { '': { dependencies }, [`node_modules/${name}`]: { version, resolved: tarball, integrity } }
      : (JSON.parse(readFileSync(new URL(lock, import.meta.url), 'utf8')) as { packages: Record<string, { integrity?: string }> }).packages;
    if (packages[`node_modules/${name}`]!.integrity !== integrity) throw new Error(`${lock!} has another hash for ${name} than the table.`);
    writeFileSync(join(draft, 'package.json'), JSON.stringify({ private: true, dependencies }));
    writeFileSync(join(draft, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, requires: true, packages }));
    const { code, said } = await npm(draft);
    rmSync(join(draft, NPM_CACHE), { recursive: true, force: true });
    if (said.includes('EINTEGRITY')) throw new Error(`${name}@${version} is not what was published when it was listed.\n${said}`);
    if (code !== 0) return `npm could not fetch ${name}@${version}: ${/npm error code (\S+)/.exec(said)?.[1] ?? 'no answer in time'}`;
    try {
      renameSync(draft, folder);
    } catch (error) {
      // Somebody else was first, with the same bytes.
      if (!existsSync(folder)) throw error;
    }
    return null;
  } finally {
    rmSync(draft, { recursive: true, force: true });
  }
}

function npm(folder: string): Promise<{ code: number | null; said: string }> {
  const args = ['install', '--prefix', folder, '--cache', join(folder, NPM_CACHE), '--ignore-scripts', '--omit=optional', '--no-save', '--no-audit', '--no-fund', '--fetch-retries=4', '--loglevel=error'];
  return new Promise((resolve, reject) => {
    const child = spawn('npm', args, { cwd: folder, stdio: ['ignore', 'pipe', 'pipe'], timeout: PATIENCE });
    let said = '';
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (said += chunk.toString()));
    child.on('error', reject);
    child.on('close', (code) => resolve({ code, said }));
  });
}
