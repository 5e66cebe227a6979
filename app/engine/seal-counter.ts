import type { Database } from 'better-sqlite3';
import type { SealCounter } from '../policy/seal.ts';

/** The seal's last counter in state.db. */
export function sealCounter(db: Database): SealCounter {
  db.exec('CREATE TABLE IF NOT EXISTS seal (one INTEGER PRIMARY KEY CHECK (one = 1), counter INTEGER NOT NULL)');
  return {
    last: () => (db.prepare('SELECT counter FROM seal').pluck().get() as number | undefined) ?? null,
    keep: (counter) => {
      db.prepare('INSERT OR REPLACE INTO seal (one, counter) VALUES (1, ?)').run(counter);
    },
  };
}
