import Database from 'better-sqlite3';

/** Counts each statement that this process runs from now on, by its text. */
export function countSql(): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  const db = new Database(':memory:');
  const statement = Object.getPrototypeOf(db.prepare('SELECT 1')) as Record<string, (this: Database.Statement, ...args: unknown[]) => unknown>;
  db.close();
  for (const name of ['get', 'all', 'run', 'iterate']) {
    const plain = statement[name]!;
    statement[name] = function counted(this: Database.Statement, ...args: unknown[]): unknown {
      counts.set(this.source, (counts.get(this.source) ?? 0) + 1);
      return plain.apply(this, args);
    };
  }
  for (const name of ['exec', 'pragma'] as const) {
    const plain = Database.prototype[name] as (this: Database.Database, ...args: unknown[]) => unknown;
    Object.assign(Database.prototype, {
      [name](this: Database.Database, ...args: unknown[]): unknown {
        const text = `${name} ${String(args[0])}`;
        counts.set(text, (counts.get(text) ?? 0) + 1);
        return plain.apply(this, args);
      },
    });
  }
  return counts;
}
