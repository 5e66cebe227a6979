import { spawnSync } from 'node:child_process';
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../', import.meta.url));
const probes: string[] = [];
afterEach(() => {
  for (const file of probes.splice(0)) rmSync(file, { force: true });
});

/** The arrows between rooms are held by lint: each import here must be refused. */
test.each([
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
  const known = ['apple', 'events', 'policy', 'delivery', 'activity', 'mcp', 'search', 'endpoint', 'probe', 'wiring', 'engine', 'contract', 'cli', 'native', 'testing', 'bench'];
  expect(rooms.filter((room) => !known.includes(room))).toEqual([]);
});
