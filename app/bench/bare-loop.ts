import Database from 'better-sqlite3';
import { statSync } from 'node:fs';

// What every follower of a store has to pay: the file, its -wal and `data_version`, each tick, and nothing else.
// Arguments: tick in ms, seconds to measure, the stores. Prints its CPU in percent of one core.
const [tick, seconds, ...paths] = process.argv.slice(2);
const stores = paths.map((path) => ({ path, version: new Database(path, { readonly: true, fileMustExist: true }).prepare('PRAGMA data_version').pluck() }));

setInterval(() => {
  for (const { path, version } of stores) {
    for (const name of [path, `${path}-wal`]) statSync(name, { bigint: true, throwIfNoEntry: false });
    version.get();
  }
}, Number(tick));
setTimeout(() => {
  const from = process.cpuUsage();
  setTimeout(() => {
    const { user, system } = process.cpuUsage(from);
    process.stdout.write(`${(user + system) / (Number(seconds) * 10_000)}\n`);
    process.exit(0);
  }, Number(seconds) * 1000);
}, 2000);
