import Database from 'better-sqlite3';

/** The usual way without Belfry: once a second, rows above the last one, a line each. Argument: the index. */
const db = new Database(process.argv[2]!, { readonly: true, fileMustExist: true });
const rows = db.prepare('SELECT m.ROWID AS rowid, a.address FROM messages m JOIN addresses a ON a.ROWID = m.sender WHERE m.ROWID > ? ORDER BY m.ROWID');
let last = (db.prepare('SELECT MAX(ROWID) FROM messages').pluck().get() as number | null) ?? 0;
setInterval(() => {
  for (const row of rows.all(last) as { rowid: number; address: string }[]) {
    last = row.rowid;
    process.stdout.write(`${JSON.stringify(row)}\n`);
  }
}, 1000);
process.stdout.write('ready\n');
