import { spawnSync } from 'node:child_process';
import { rmSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { afterEach, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../', import.meta.url));
const probe = `${root}main/lint-probe-${process.pid}.ts`;
afterEach(() => rmSync(probe, { force: true }));

const lint = (line: string) => {
  writeFileSync(probe, line);
  return spawnSync(process.execPath, [`${root}node_modules/oxlint/bin/oxlint`, probe], { cwd: root, encoding: 'utf8' }).stdout;
};

/** The shell knows the contract and the settings files of other programs; of the engine only its types. */
test.each(['../app/engine/host.ts', '../app/policy/policy.ts', '../app/apple/store.ts', '../app/testing/world.ts', '../renderer/app.tsx', 'react', 'better-sqlite3'])('main may not import %s', (target) => {
  expect(lint(`import * as probe from '${target}';\n\nexport const used = probe;\n`)).toMatch(/no-restricted-imports/);
});

test.each(['../app/contract/health.ts', '../app/wiring/wiring.ts', 'electron'])('main may import %s', (target) => {
  expect(lint(`import * as probe from '${target}';\n\nexport const used = probe;\n`)).not.toMatch(/no-restricted-imports/);
});

test('of the engine its types', () => {
  expect(lint("import type { StartMessage } from '../app/engine/process.ts';\n\nexport type Used = StartMessage;\n")).not.toMatch(/no-restricted-imports/);
});
