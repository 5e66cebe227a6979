import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const probes: string[] = [];
afterEach(() => {
  for (const file of probes.splice(0)) rmSync(file, { force: true });
});

/** The arrows between rooms are held by lint: each import here must be refused. */
test.each([
  ['text', '../events/clock.ts'],
  ['apple', '../events/hub.ts'],
  ['apple', '../mcp/server.ts'],
  ['events', '../policy/policy.ts'],
  ['events', '../mcp/server.ts'],
  ['events', '../endpoint/endpoint.ts'],
  ['policy', '../engine/engine.ts'],
  ['delivery', '../policy/policy.ts'],
  ['delivery', '../mcp/server.ts'],
  ['delivery', '../activity/activity-log.ts'],
  ['mcp', '../policy/policy.ts'],
  ['mcp', '../endpoint/endpoint.ts'],
  ['endpoint', '../engine/engine.ts'],
  ['activity', '../policy/policy.ts'],
  ['contract', '../engine/engine.ts'],
  ['wiring', '../engine/engine.ts'],
  ['probe', '../engine/engine.ts'],
  ['probe', '../mcp/server.ts'],
  ['endpoint', '../probe/probe.ts'],
  ['wiring', '../contract/shell.ts'],
  ['engine', '../testing/world.ts'],
  ['engine', 'electron'],
  ['events', 'electron'],
])('app/%s may not import %s', (room, target) => {
  const file = `${root}app/${room}/lint-probe-${process.pid}.ts`;
  probes.push(file);
  writeFileSync(file, `import * as probe from '${target}';\n\nexport const used = probe;\n`);
  const { stdout, status } = spawnSync(process.execPath, [`${root}node_modules/oxlint/bin/oxlint`, file], { cwd: root, encoding: 'utf8' });
  expect(stdout).toMatch(/no-restricted-imports/);
  expect(status).not.toBe(0);
});

test('every room of app/ is named by the rule or is a place where rooms meet', () => {
  const rooms = readdirSync(`${root}app`, { withFileTypes: true }).filter((entry) => entry.isDirectory()).map(({ name }) => name);
  const known = ['text', 'apple', 'events', 'policy', 'delivery', 'activity', 'mcp', 'search', 'endpoint', 'probe', 'wiring', 'engine', 'contract', 'cli', 'native', 'testing', 'bench'];
  expect(rooms.filter((room) => !known.includes(room))).toEqual([]);
});

/** Every file that one draws in, types apart. */
function drawnIn(entry: string): Set<string> {
  const seen = new Set<string>();
  const queue = [join(root, entry)];
  for (let file = queue.pop(); file !== undefined; file = queue.pop()) {
    if (seen.has(file)) continue;
    seen.add(file);
    const text = readFileSync(file, 'utf8');
    for (const [, path] of text.matchAll(/^(?:import|export)\s(?!type\b)[^;]*?from '(\.[^']+)'/gm)) queue.push(join(dirname(file), path!));
    for (const [, path] of text.matchAll(/\bimport\('(\.[^']+)'\)/g)) queue.push(join(dirname(file), path!));
  }
  return new Set([...seen].map((file) => file.slice(root.length)));
}

test('the engine holds nothing of what a probe starts, fetches or keeps: that is for the command alone', () => {
  const engine = drawnIn('app/engine/process.ts');
  expect(engine).toContain('app/probe/probe.ts');
  const outside = ['app/probe/outside.ts', 'app/probe/command-pipe.ts', 'app/probe/http-link.ts', 'app/probe/http-exchange.ts', 'app/probe/oauth/tokens.ts', 'app/probe/lab/lab.ts'];
  expect(outside.filter((file) => engine.has(file))).toEqual([]);
  const command = drawnIn('app/cli/belfry.ts');
  expect(outside.filter((file) => !command.has(file))).toEqual([]);
});
