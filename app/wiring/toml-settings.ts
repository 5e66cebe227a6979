import { isDeepStrictEqual } from 'node:util';
import { lineEnding, spliced, type Json, type Splice } from './json-text.ts';
import type { Server, ServerEntry, SettingsFormat } from './server-entry.ts';
import { parseToml, tomlValue, type TomlDocument, type TomlNode, type TomlTable } from './toml.ts';
import { SettingsTrouble } from './trouble.ts';

/** TOML with one table per server, spliced by line: every line outside our table stays. @param place path of the servers' table */
export function tomlSettings(place: readonly string[]): SettingsFormat {
  return {
    servers(text) {
      return [...(tableAt(parseToml(text), place)?.members ?? [])].map(([key, node]): Server => ({ place, key, entry: node.kind === 'table' ? tomlValue(node) as ServerEntry : null }));
    },
    place: () => place,
    add(text, at, key, entry) {
      const table = tableAt(parseToml(text), at);
      if (table?.origin === 'inline') throw new SettingsTrouble('cant-write', `In the file, ${at.join('.')} is an inline table.`);
      if (table?.members.has(key)) throw new SettingsTrouble('cant-write', `The file has a table "${key}" already.`);
      const eol = lineEnding(text);
      const joint = text === '' ? '' : `${text.endsWith('\n') ? '' : eol}${eol}`;
      return checked(text, text + joint + tomlTable([...at, key], entry, eol), [...at, key], entry);
    },
    update(text, at, key, entry) {
      const path = [...at, key];
      const before = entryAt(parseToml(text), path);
      let result = text;
      for (const [name, value] of Object.entries(entry)) result = withValue(result, path, name, value);
      return checked(text, result, path, { ...before, ...entry });
    },
    remove(text, at, key) {
      const path = [...at, key];
      return checked(text, spliced(text, removal(text, parseToml(text), path)), path, null);
    },
  };
}

/** One table as text; the last line ends with `eol`. @throws SettingsTrouble for a value that is neither text, truth nor a list of text */
export function tomlTable(path: readonly string[], entry: ServerEntry, eol: string): string {
  const lines = Object.entries(entry).map(([name, value]) => `${tomlKey(name)} = ${tomlText(value)}`);
  return [`[${path.map(tomlKey).join('.')}]`, ...lines, ''].join(eol);
}

function tomlKey(name: string): string {
  return /^[A-Za-z0-9_-]+$/u.test(name) ? name : tomlString(name);
}

function tomlText(value: Json): string {
  if (typeof value === 'string') return tomlString(value);
  if (typeof value === 'boolean') return String(value);
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map(tomlText).join(', ')}]`;
  throw new SettingsTrouble('cant-write', 'The entry holds a value that is not text.');
}

/** A basic string. JSON escapes all that TOML does but DEL, and each of its escapes is one of TOML's. */
function tomlString(value: string): string {
  return JSON.stringify(value).replaceAll('\u007f', String.raw`\u007f`);
}

function nodeAt(document: TomlDocument, path: readonly string[]): TomlNode | undefined {
  let node: TomlNode | undefined = document.root;
  for (const [depth, name] of path.entries()) {
    if (node?.kind !== 'table') throw new SettingsTrouble('cant-write', `In the file, ${path.slice(0, depth).join('.')} is not a table.`);
    node = node.members.get(name);
    if (!node) return undefined;
  }
  return node;
}

function tableAt(document: TomlDocument, path: readonly string[]): TomlTable | undefined {
  const node = nodeAt(document, path);
  if (node && node.kind !== 'table') throw new SettingsTrouble('cant-write', `In the file, ${path.join('.')} is not a table.`);
  return node;
}

function entryAt(document: TomlDocument, path: readonly string[]): ServerEntry {
  const node = tableAt(document, path);
  if (!node) throw new SettingsTrouble('cant-write', `The file has no table "${path.at(-1)!}".`);
  return tomlValue(node) as ServerEntry;
}

function withValue(text: string, path: readonly string[], name: string, value: Json): string {
  const document = parseToml(text);
  const wanted = [...path, name];
  const leaf = document.statements.flatMap(({ leaves }) => leaves).find((candidate) => isDeepStrictEqual(candidate.path, wanted));
  if (leaf) {
    const current = nodeAt(document, wanted);
    if (current && isDeepStrictEqual(tomlValue(current), value)) return text;
    return spliced(text, [{ offset: leaf.start, length: leaf.end - leaf.start, text: tomlText(value) }]);
  }
  const header = document.statements.find((statement) => statement.kind === 'header' && isDeepStrictEqual(statement.path, path));
  if (!header || nodeAt(document, wanted)) throw new SettingsTrouble('cant-write', `In the file, "${path.at(-1)!}" is not a table of its own.`);
  const eol = lineEnding(text);
  const joint = text.slice(header.start, header.end).endsWith('\n') ? '' : eol;
  return spliced(text, [{ offset: header.end, length: 0, text: `${joint}${tomlKey(name)} = ${tomlText(value)}${eol}` }]);
}

/** The lines of our table, its sub-tables and its dotted keys; comments and blank lines below the last of them stay. */
function removal(text: string, document: TomlDocument, path: readonly string[]): Splice[] {
  const ours = (other: readonly string[]): boolean => path.every((name, index) => other[index] === name);
  const ranges: { start: number; end: number }[] = [];
  let section: { start: number; end: number } | null = null;
  for (const statement of document.statements) {
    if (!ours(statement.path)) {
      section = null;
    } else if (statement.kind === 'pair' && section) {
      section.end = statement.end;
    } else {
      const range = { start: statement.kind === 'header' ? blankBefore(text, statement.start) : statement.start, end: statement.end };
      ranges.push(range);
      section = statement.kind === 'header' ? range : null;
    }
  }
  if (ranges.length === 0) throw new SettingsTrouble('cant-write', `In the file, "${path.at(-1)!}" is part of an inline table.`);
  return ranges.map(({ start, end }) => ({ offset: start, length: end - start, text: '' }));
}

/** Where the empty line before a header starts, which `add` wrote; else the header's own start. */
function blankBefore(text: string, start: number): number {
  const blank = /(?:^|\n)(\r?\n)$/u.exec(text.slice(Math.max(0, start - 3), start));
  return blank ? start - blank[1]!.length : start;
}

/** The last gate: read again, the result differs from the text in our entry alone. */
function checked(text: string, result: string, path: readonly string[], entry: ServerEntry | null): string {
  const after = parseToml(result);
  const found = nodeAt(after, path);
  const same = isDeepStrictEqual(without(parseToml(text), path), without(after, path));
  const right = entry === null ? !found : found && isDeepStrictEqual({ ...tomlValue(found) as ServerEntry }, { ...entry });
  if (!same || !right) throw new SettingsTrouble('cant-write', 'The change could not be worked out without touching other settings.');
  return result;
}

/** Also drops a table of servers that is empty without ours: it may have been made for it. */
function without(document: TomlDocument, path: readonly string[]): Json {
  const table = tableAt(document, path.slice(0, -1));
  table?.members.delete(path.at(-1)!);
  if (table?.members.size === 0 && path.length > 1) tableAt(document, path.slice(0, -2))?.members.delete(path.at(-2)!);
  return tomlValue(document.root);
}
