// Types, lint and every test; then one line with the totals. Run by `npm test` after the set-up.
import { spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureChromium } from './chromium.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const allowSkips = process.env.BELFRY_NO_SKIPS !== '1';
const only = process.argv.slice(2);

function step(name, command, args, env = process.env) {
  process.stdout.write(`\n== ${name}\n`);
  const started = Date.now();
  const { status } = spawnSync(command, args, { cwd: root, stdio: 'inherit', env });
  process.stdout.write(`== ${name}: ${status === 0 ? 'ok' : 'failed'} in ${((Date.now() - started) / 1000).toFixed(1)} s\n`);
  return status === 0;
}

const node = process.execPath;
const tool = (path) => join(root, 'node_modules', path);
const report = join(root, '.cache', 'tests.json');
mkdirSync(dirname(report), { recursive: true });
// Tests that end without a report have no totals, least of all those of the run before.
rmSync(report, { force: true });

const chromium = ensureChromium((line) => process.stdout.write(`${line}\n`));
const env = { ...process.env, ...(chromium && { BELFRY_CHROMIUM: chromium }) };
const checks = [
  ...(only.length > 0 ? [] : [
    ['types', node, [tool('typescript/bin/tsc'), '--noEmit']],
    ['types of the page', node, [tool('typescript/bin/tsc'), '--noEmit', '-p', 'renderer']],
    ['lint', node, [tool('oxlint/bin/oxlint'), '--deny-warnings', '.']],
  ]),
  ['tests', node, [tool('vitest/vitest.mjs'), 'run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...only]],
];
// The published clients of the tests are hundreds of MB on a fresh clone: fetched while types and lint run.
if (only.length === 0) spawn(node, [join(root, 'app/testing/real-clients/fetch.ts')], { cwd: root, stdio: 'ignore' }).unref();
const failed = checks.filter(([name, command, args]) => !step(name, command, args, env)).map(([name]) => name);

const totals = existsSync(report) ? JSON.parse(readFileSync(report, 'utf8')) : { testResults: [] };
const tests = totals.testResults.flatMap((file) => file.assertionResults);
const count = (...states) => tests.filter((test) => states.includes(test.status)).length;
const skipped = tests.filter((test) => ['pending', 'skipped', 'todo', 'disabled'].includes(test.status));
for (const test of skipped) process.stdout.write(`skipped: ${test.fullName}\n`);
const passed = count('passed');
const broken = count('failed') + (totals.testResults.filter((file) => file.status === 'failed' && file.assertionResults.length === 0).length);
if (failed.length > 0) process.stdout.write(`\nNot green: ${failed.join(', ')}\n`);
if (!allowSkips && skipped.length > 0) process.stdout.write('\nSkips are not allowed here.\n');
process.stdout.write(`\ntests: ${passed} passed, ${broken} failed, ${skipped.length} skipped\n`);
process.exit(failed.length > 0 || passed === 0 || (!allowSkips && skipped.length > 0) ? 1 : 0);
