import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const read = (name: string) => readFileSync(`${root}${name}`, 'utf8');
const manifest = JSON.parse(read('package.json')) as { dependencies: Record<string, string>; devDependencies: Record<string, string> };

test('each dependency is pinned exactly and has its reason in the README', () => {
  const all = { ...manifest.dependencies, ...manifest.devDependencies };
  for (const [name, version] of Object.entries(all)) {
    expect(version, name).toMatch(/^\d+\.\d+\.\d+(-alpha\.\d+)?$/);
    const named = read('README.md').includes(`\`${name}\``) || (name.startsWith('@types/') && read('README.md').includes('`@types/*`'));
    expect(named, `${name} has no line in the README`).toBe(true);
  }
});

test('shipped code writes nothing to stdout but through the command line: stdout belongs to the protocol', () => {
  const rooms = ['apple', 'events', 'policy', 'activity', 'mcp', 'endpoint', 'engine', 'contract'];
  const found = rooms.flatMap((room) => readdirSync(`${root}app/${room}`, { recursive: true })
    .map((name) => `app/${room}/${String(name)}`)
    .filter((name) => name.endsWith('.ts') && !name.endsWith('.test.ts'))
    .filter((name) => /console\.|process\.stdout/.test(read(name))));
  expect(found).toEqual([]);
});
