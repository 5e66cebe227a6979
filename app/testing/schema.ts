import Database from 'better-sqlite3';
import { readFileSync } from 'node:fs';

/** One statement of a schema. */
export interface SchemaObject {
  readonly type: 'table' | 'index' | 'trigger';
  readonly name: string;
  /** Table that an index or trigger belongs to. */
  readonly table: string;
  readonly sql: string;
}

export function schemaText(file: string): string {
  return readFileSync(new URL(`schema/${file}`, import.meta.url), 'utf8');
}

/** The statements of a schema file, as SQLite itself separates them. */
export function schemaObjects(...files: readonly string[]): SchemaObject[] {
  const db = new Database(':memory:');
  try {
    for (const file of files) db.exec(schemaText(file));
    return db
      .prepare(`SELECT type, name, tbl_name AS "table", sql FROM sqlite_schema WHERE sql IS NOT NULL AND name NOT LIKE 'sqlite\\_%' ESCAPE '\\'`)
      .all() as SchemaObject[];
  } finally {
    db.close();
  }
}

/** Splits a CREATE TABLE into what precedes its column list, the columns and constraints, and what follows. */
export function tableParts(sql: string): { head: string; parts: string[]; tail: string } {
  const open = sql.indexOf('(');
  const close = sql.lastIndexOf(')');
  const parts: string[] = [];
  let depth = 0;
  let from = open + 1;
  for (let at = from; at <= close; at += 1) {
    const sign = sql[at];
    if (at === close || (sign === ',' && depth === 0)) {
      parts.push(sql.slice(from, at).trim());
      from = at + 1;
    } else if (sign === '(') depth += 1;
    else if (sign === ')') depth -= 1;
  }
  return { head: sql.slice(0, open), parts, tail: sql.slice(close + 1) };
}

/** The same table with other columns and constraints. */
export function withParts(object: SchemaObject, change: (parts: string[]) => string[]): SchemaObject {
  const { head, parts, tail } = tableParts(object.sql);
  return { ...object, sql: `${head}(${change(parts).join(', ')})${tail}` };
}

export function columnName(part: string): string {
  return part.split(/[\s(]/, 1)[0] ?? '';
}
