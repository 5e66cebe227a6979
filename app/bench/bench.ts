import { writeFileSync } from 'node:fs';
import { cpus, loadavg } from 'node:os';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { misses, table, type Figure } from './table.ts';

/** Each group is loaded when it runs: what one needs is no weight on another. */
const groups: Readonly<Record<string, () => Promise<Figure[]>>> = {
  latency: async () => (await import('./latency.ts')).latency(),
  store: async () => (await import('./store.ts')).store(),
  streams: async () => (await import('./streams.ts')).streams(),
  http: async () => (await import('./http.ts')).http(),
  watches: async () => (await import('./watches.ts')).watches(),
  webhook: async () => (await import('./webhook.ts')).webhook(),
  idle: async () => (await import('./idle.ts')).idle(),
  shim: async () => (await import('./shim.ts')).shim(),
  page: async () => (await import('./page.ts')).page(),
  reading: async () => (await import('./reading.ts')).reading(),
  searching: async () => (await import('./searching.ts')).searching(),
};

const { values } = parseArgs({ options: { only: { type: 'string', multiple: true } } });
const chosen = values.only ?? Object.keys(groups);
const unknown = chosen.filter((name) => !Object.hasOwn(groups, name));
if (unknown.length > 0) {
  process.stderr.write(`bench: no group ${unknown.join(', ')}; there are ${Object.keys(groups).join(', ')}\n`);
  process.exit(2);
}

const results: { group: string; seconds: number; loadBefore: number; figures: Figure[] }[] = [];
for (const group of chosen) {
  const [from, loadBefore] = [performance.now(), loadavg()[0]!];
  const figures = await groups[group]!();
  results.push({ group, seconds: Math.round((performance.now() - from) / 1000), loadBefore, figures });
  process.stderr.write(`bench: ${group} took ${results.at(-1)!.seconds} s\n`);
  global.gc?.();
}
process.stdout.write(`${table(results.flatMap((result) => result.figures))}\n`);
for (const { figures, loadBefore, group } of results) {
  const busy = `What else ran is not ours to measure: the load was ${loadBefore.toFixed(1)} on ${cpus().length} cores as "${group}" began. The raw samples are in bench-results.json.`;
  process.stdout.write(misses(figures, busy));
}
const root = fileURLToPath(new URL('../..', import.meta.url));
const machine = { node: process.version, platform: process.platform, cores: cpus().length, model: cpus()[0]?.model };
writeFileSync(`${root}/bench-results.json`, JSON.stringify({ at: new Date().toISOString(), machine, results }, null, 1));
