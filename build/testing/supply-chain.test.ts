import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { noticeText, shippedPackages } from '../notice.mjs';
import { billOfMaterials } from '../sbom.mjs';

const root = dirname(dirname(dirname(fileURLToPath(import.meta.url))));
const read = (...path: string[]) => readFileSync(join(root, ...path), 'utf8');

interface Manifest {
  readonly scripts: Record<string, string>;
  readonly dependencies: Record<string, string>;
  readonly devDependencies: Record<string, string>;
  readonly allowScripts: Record<string, boolean>;
}
interface Lockfile {
  readonly packages: Record<string, { readonly version?: string; readonly integrity?: string; readonly hasInstallScript?: boolean; readonly inBundle?: boolean; readonly optional?: boolean }>;
}
const manifest = JSON.parse(read('package.json')) as Manifest;
const lock = JSON.parse(read('package-lock.json')) as Lockfile;
const installed = Object.entries(lock.packages).filter(([path]) => path !== '');
const nameOf = (path: string) => path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);

test('every package is pinned to one version, and the lockfile knows its hash', () => {
  for (const [name, version] of Object.entries({ ...manifest.dependencies, ...manifest.devDependencies })) expect(version, name).toMatch(/^\d+\.\d+\.\d+(?:-[\w.]+)?$/);
  for (const [path, { integrity, inBundle }] of installed) if (!inBundle) expect(integrity, path).toMatch(/^sha512-/);
});

test('install scripts run only where package.json says so', () => {
  const withScript = new Set(installed.filter(([, each]) => each.hasInstallScript && !each.optional).map(([path]) => nameOf(path)));
  for (const name of withScript) expect(manifest.allowScripts, `${name} has an install script`).toHaveProperty([name]);
  expect(Object.keys(manifest.allowScripts).filter((name) => manifest.allowScripts[name])).toEqual(['node']);
});

test('nothing is a dependency without a line in the README that says why it is there', () => {
  const table = read('README.md').split('## Dependencies, and why each is there')[1]!.split('\n## ')[0]!;
  const rows = table.split('\n').filter((line) => line.startsWith('| `')).map((line) => ({ names: line.split('|')[1]!, why: line.split('|')[2]!.trim() }));
  const isNamed = (name: string) => rows.some(({ names, why }) => why.length > 10 && (names.includes(`\`${name}\``) || (name.startsWith('@types/') && names.includes('`@types/*`'))));
  for (const name of Object.keys({ ...manifest.dependencies, ...manifest.devDependencies })) expect(isNamed(name), `${name} in the README's table`).toBe(true);
});

test('what ships is named with its licence in NOTICE, and every licence allows it', () => {
  const allowed = new Set(['MIT', 'MIT-0', 'ISC', 'BSD-2-Clause', 'BSD-3-Clause', 'Apache-2.0', 'BlueOak-1.0.0', '0BSD', 'Python-2.0', 'Unlicense', 'CC0-1.0']);
  const notice = noticeText();
  const shipped = shippedPackages(lock);
  expect(shipped.map(({ name }) => name)).toEqual(expect.arrayContaining(Object.keys(manifest.dependencies)));
  for (const { name, version, license } of shipped) {
    expect(allowed.has(license), `${name} is under ${license}`).toBe(true);
    expect(notice).toContain(`${name} ${version} (${license})`);
  }
  // The cipher is compiled into a package that names it in its sources only.
  for (const part of ['SQLite3 Multiple Ciphers', 'Olivier Gay', 'Argon2']) expect(notice).toContain(part);
});

test('the bill of materials lists what ships, as the lockfile has it', () => {
  const { bomFormat, metadata, components } = billOfMaterials();
  expect([bomFormat, metadata.component.name]).toEqual(['CycloneDX', 'belfry']);
  const wanted = [...shippedPackages(lock).map(({ name, version }) => `${name}@${version}`), `electron@${manifest.devDependencies['electron']}`];
  expect(components.map(({ name, version }) => `${name}@${version}`).sort()).toEqual(wanted.sort());
});

test('every step of a workflow is an npm script that exists, and packages come from the lockfile alone', () => {
  const workflows = readdirSync(join(root, '.github', 'workflows'));
  expect(workflows.sort()).toEqual(['ci.yml', 'release.yml']);
  expect([...read('build', 'setup.mjs').matchAll(/'(ci|install|i|add)',/g)].map(([, command]) => command)).toEqual(['ci']);
  for (const file of workflows) {
    const runs = [...read('.github', 'workflows', file).matchAll(/^\s*(?:- )?run: (.+)$/gm)].map(([, command]) => command!);
    expect(runs.length).toBeGreaterThan(2);
    for (const command of runs) {
      const script = /^npm (?:run ([\w:]+)|(test))$/.exec(command);
      expect(script, `${file}: ${command}`).not.toBeNull();
      expect(manifest.scripts, `${file}: ${command}`).toHaveProperty([(script![1] ?? script![2])!]);
    }
  }
});

test('every script names a command of the set-up or a file that exists', () => {
  const commands = new Set([...read('build', 'setup.mjs').matchAll(/case '([\w-]+)'/g)].map(([, name]) => name));
  for (const [name, script] of Object.entries(manifest.scripts)) {
    const [, file, command] = /^node (build\/\S+\.mjs)(?: (\S+))?/.exec(script) ?? [];
    if (file !== undefined) expect(existsSync(join(root, file)), `${name}: ${file}`).toBe(true);
    if (file === 'build/setup.mjs') expect(commands, `${name}: ${command}`).toContain(command);
  }
});
