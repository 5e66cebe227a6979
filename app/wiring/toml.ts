import type { Json } from './json-text.ts';
import { lineAt } from './json-text.ts';
import { SettingsTrouble } from './trouble.ts';

/** A value as it stands in the text; `path` runs from the root, through dotted keys and inline tables. */
export interface TomlLeaf {
  readonly path: readonly string[];
  readonly start: number;
  readonly end: number;
}

/** A `[table]` or `[[table]]` header, or a `key = value` line, from its line's start to its line's end. */
export interface TomlStatement {
  readonly kind: 'header' | 'pair';
  readonly path: readonly string[];
  readonly start: number;
  /** After the line's newline, or the end of the text. */
  readonly end: number;
  readonly leaves: readonly TomlLeaf[];
}

/** How a table came to be decides whether and how it may be extended (TOML 1.0, Table and Dotted keys). */
export type TomlOrigin = 'implied' | 'header' | 'dotted' | 'inline';
export interface TomlTable {
  readonly kind: 'table';
  origin: TomlOrigin;
  /** Number of the header under which a dotted table was made; only there it may grow. */
  readonly section: number;
  readonly members: Map<string, TomlNode>;
}
export type TomlNode = TomlTable | { readonly kind: 'tables'; readonly items: TomlTable[] } | { readonly kind: 'value'; readonly value: Json };

export interface TomlDocument {
  readonly root: TomlTable;
  readonly statements: readonly TomlStatement[];
}

const MAX_DEPTH = 100;
// oxlint-disable-next-line no-control-regex -- TOML names the control characters that it refuses
const CONTROL = /[\u0000-\u0008\u000a-\u001f\u007f]/u;
const INTEGER = /^[+-]?(?:0|[1-9](?:_?\d)*)$|^0x[\dA-Fa-f](?:_?[\dA-Fa-f])*$|^0o[0-7](?:_?[0-7])*$|^0b[01](?:_?[01])*$/u;
const FLOAT = /^[+-]?(?:0|[1-9](?:_?\d)*)(?:\.\d(?:_?\d)*)?(?:[eE][+-]?\d(?:_?\d)*)?$|^[+-]?(?:inf|nan)$/u;
const DATE_TIME = /^\d{4}-\d\d-\d\d(?:[Tt ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:[Zz]|[+-]\d\d:\d\d)?)?$|^\d\d:\d\d(?::\d\d(?:\.\d+)?)?$/u;

/** Reads TOML with the place of each statement and value. Numbers and dates stay text. @throws SettingsTrouble */
export function parseToml(text: string): TomlDocument {
  return new Reader(text).document();
}

/** A table as plain values. */
export function tomlValue(node: TomlNode): Json {
  if (node.kind === 'value') return node.value;
  if (node.kind === 'tables') return node.items.map(tomlValue);
  const object: Record<string, Json> = Object.create(null) as Record<string, Json>;
  for (const [key, member] of node.members) object[key] = tomlValue(member);
  return object;
}

class Reader {
  readonly #text: string;
  #at = 0;
  #section = 0;
  readonly #root: TomlTable = { kind: 'table', origin: 'header', section: 0, members: new Map() };

  constructor(text: string) {
    this.#text = text;
  }

  document(): TomlDocument {
    const statements: TomlStatement[] = [];
    let table = this.#root;
    let tablePath: readonly string[] = [];
    for (;;) {
      const start = this.#at;
      this.#blanks();
      if (this.#at >= this.#text.length) break;
      if (this.#peek() === '[') {
        const twice = this.#text.startsWith('[[', this.#at);
        this.#at += twice ? 2 : 1;
        const path = this.#key();
        this.#expect(twice ? ']]' : ']');
        table = this.#open(path, twice);
        tablePath = path;
        this.#lineEnd();
        statements.push({ kind: 'header', path, start, end: this.#at, leaves: [] });
      } else if (/[^#\r\n]/u.test(this.#peek())) {
        const leaves: TomlLeaf[] = [];
        const path = [...tablePath, ...this.#pair(table, tablePath, leaves, 0)];
        this.#lineEnd();
        statements.push({ kind: 'pair', path, start, end: this.#at, leaves });
      } else {
        this.#lineEnd();
      }
    }
    return { root: this.#root, statements };
  }

  /** The table that a header opens. */
  #open(path: readonly string[], twice: boolean): TomlTable {
    this.#section += 1;
    let table = this.#root;
    for (const name of path.slice(0, -1)) {
      let member = table.members.get(name);
      if (!member) {
        member = this.#table('implied');
        table.members.set(name, member);
      }
      if (member.kind === 'tables') table = member.items.at(-1)!;
      else if (member.kind === 'table' && member.origin !== 'inline') table = member;
      else this.#fail(`"${name}" is set twice`);
    }
    const name = path.at(-1)!;
    const member = table.members.get(name);
    if (twice) {
      const item = this.#table('header');
      if (!member) table.members.set(name, { kind: 'tables', items: [item] });
      else if (member.kind === 'tables') member.items.push(item);
      else this.#fail(`"${name}" is set twice`);
      return item;
    }
    if (!member) {
      const opened = this.#table('header');
      table.members.set(name, opened);
      return opened;
    }
    if (member.kind !== 'table' || member.origin !== 'implied') this.#fail(`"${name}" is set twice`);
    member.origin = 'header';
    return member;
  }

  /** Reads `key = value` into a table. @returns the key's path below that table */
  #pair(into: TomlTable, intoPath: readonly string[], leaves: TomlLeaf[], depth: number): readonly string[] {
    const path = this.#key();
    this.#expect('=');
    this.#blanks();
    let table = into;
    for (const name of path.slice(0, -1)) {
      let member = table.members.get(name);
      if (!member) {
        member = this.#table('dotted');
        table.members.set(name, member);
      }
      if (member.kind !== 'table' || member.origin !== 'dotted' || member.section !== this.#section) this.#fail(`"${name}" is set twice`);
      table = member;
    }
    const name = path.at(-1)!;
    if (table.members.has(name)) this.#fail(`"${name}" is set twice`);
    const full = [...intoPath, ...path];
    const start = this.#at;
    // In its place before it is read: members keep the order of the text.
    const node = this.#value(full, leaves, depth);
    table.members.set(name, node);
    leaves.push({ path: full, start, end: this.#at });
    return path;
  }

  #value(path: readonly string[], leaves: TomlLeaf[], depth: number): TomlNode {
    if (depth > MAX_DEPTH) throw new SettingsTrouble('unreadable', `The file is nested more than ${MAX_DEPTH} levels deep.`);
    const first = this.#peek();
    if (first === '{') return this.#inlineTable(path, leaves, depth);
    if (first === '[') return { kind: 'value', value: this.#list(depth) };
    if (first === '"' || first === "'") return { kind: 'value', value: this.#text.startsWith(first.repeat(3), this.#at) ? this.#longString(first) : this.#string() };
    const rest = this.#text.slice(this.#at, this.#at + 128);
    const word = /^(?:\d{4}-\d\d-\d\d \d\d:[\d:.Zz+-]*|[\w+.:-]+)/u.exec(rest)?.[0] ?? '';
    this.#at += word.length;
    if (word === 'true' || word === 'false') return { kind: 'value', value: word === 'true' };
    if (!INTEGER.test(word) && !FLOAT.test(word) && !DATE_TIME.test(word)) this.#fail('a value is missing or not understood');
    return { kind: 'value', value: { number: word } };
  }

  #inlineTable(path: readonly string[], leaves: TomlLeaf[], depth: number): TomlTable {
    const section = this.#section;
    this.#section = -1 - this.#at;
    const table = this.#table('inline');
    this.#at += 1;
    this.#space();
    while (this.#peek() !== '}') {
      this.#pair(table, path, leaves, depth + 1);
      this.#space();
      if (this.#peek() === ',') {
        this.#at += 1;
        this.#space();
      } else if (this.#peek() !== '}') this.#fail('a comma or "}" is missing');
    }
    this.#at += 1;
    this.#section = section;
    closed(table);
    return table;
  }

  #list(depth: number): Json[] {
    const items: Json[] = [];
    this.#at += 1;
    this.#space();
    while (this.#peek() !== ']') {
      items.push(tomlValue(this.#value([], [], depth + 1)));
      this.#space();
      if (this.#peek() === ',') {
        this.#at += 1;
        this.#space();
      } else if (this.#peek() !== ']') this.#fail('a comma or "]" is missing');
    }
    this.#at += 1;
    return items;
  }

  #key(): readonly string[] {
    const path: string[] = [];
    for (;;) {
      this.#blanks();
      const first = this.#peek();
      if (first === '"' || first === "'") path.push(this.#string());
      else {
        const word = /^[A-Za-z0-9_-]+/u.exec(this.#text.slice(this.#at, this.#at + 1024))?.[0];
        if (!word) this.#fail('a key is missing or not understood');
        this.#at += word.length;
        path.push(word);
      }
      this.#blanks();
      if (path.length > MAX_DEPTH) throw new SettingsTrouble('unreadable', `The file is nested more than ${MAX_DEPTH} levels deep.`);
      if (this.#peek() !== '.') return path;
      this.#at += 1;
    }
  }

  #string(): string {
    const quote = this.#peek();
    let value = '';
    this.#at += 1;
    for (;;) {
      const char = this.#peek();
      if (char === '' || CONTROL.test(char)) this.#fail('a string does not end');
      if (char === quote) break;
      value += quote === '"' && char === '\\' ? this.#escape() : this.#take();
    }
    this.#at += 1;
    return value;
  }

  #longString(quote: string): string {
    const end = quote.repeat(3);
    let value = '';
    this.#at += 3;
    if (this.#text.startsWith('\r\n', this.#at)) this.#at += 2;
    else if (this.#peek() === '\n') this.#at += 1;
    while (!this.#text.startsWith(end, this.#at)) {
      const char = this.#peek();
      if (char === '') this.#fail('a string does not end');
      const newline = /^\r?\n/u.exec(this.#text.slice(this.#at, this.#at + 2))?.[0];
      if (newline) {
        value += newline;
        this.#at += newline.length;
      } else if (CONTROL.test(char)) this.#fail('a string has a control character');
      else if (quote === '"' && char === '\\') {
        const folded = /^\\[ \t]*\r?\n\s*/u.exec(this.#text.slice(this.#at))?.[0];
        if (folded) this.#at += folded.length;
        else value += this.#escape();
      } else value += this.#take();
    }
    // Up to two quotes may stand right before the closing three.
    let quotes = 3;
    while (quotes < 5 && this.#text[this.#at + quotes] === quote) quotes += 1;
    this.#at += quotes;
    return value + quote.repeat(quotes - 3);
  }

  #escape(): string {
    const match = /^\\(?:([btnfre"\\])|x([\dA-Fa-f]{2})|u([\dA-Fa-f]{4})|U([\dA-Fa-f]{8}))/u.exec(this.#text.slice(this.#at, this.#at + 10));
    if (!match) this.#fail('an escape is not understood');
    this.#at += match[0].length;
    if (match[1]) return ESCAPES[match[1]]!;
    const code = Number.parseInt(match[2] ?? match[3] ?? match[4]!, 16);
    if (code > 0x10ffff || (code >= 0xd800 && code <= 0xdfff)) this.#fail('an escape is no character');
    return String.fromCodePoint(code);
  }

  #take(): string {
    const char = this.#peek();
    this.#at += 1;
    return char;
  }

  #peek(): string {
    return this.#text[this.#at] ?? '';
  }

  #blanks(): void {
    while (this.#peek() === ' ' || this.#peek() === '\t') this.#at += 1;
  }

  /** White space, newlines and comments inside brackets. */
  #space(): void {
    for (;;) {
      this.#blanks();
      if (this.#peek() !== '#' && this.#peek() !== '\n' && this.#peek() !== '\r') return;
      this.#lineEnd();
    }
  }

  /** A comment if there is one, then the newline or the end of the text. */
  #lineEnd(): void {
    this.#blanks();
    if (this.#peek() === '#') {
      const found = this.#text.indexOf('\n', this.#at);
      const end = found === -1 ? this.#text.length : found;
      const comment = this.#text.slice(this.#at, end).replace(/\r$/u, '');
      if (CONTROL.test(comment)) this.#fail('a comment has a control character');
      this.#at += comment.length;
    }
    if (this.#at >= this.#text.length) return;
    const newline = /^\r?\n/u.exec(this.#text.slice(this.#at, this.#at + 2))?.[0];
    if (!newline) this.#fail('something follows where the line should end');
    this.#at += newline.length;
  }

  #expect(mark: string): void {
    this.#blanks();
    if (!this.#text.startsWith(mark, this.#at)) this.#fail(`"${mark}" is missing`);
    this.#at += mark.length;
  }

  #table(origin: TomlOrigin): TomlTable {
    return { kind: 'table', origin, section: this.#section, members: new Map() };
  }

  #fail(what: string): never {
    throw new SettingsTrouble('unreadable', `Line ${lineAt(this.#text, this.#at)} of the file is not valid TOML: ${what}.`);
  }
}

const ESCAPES: Readonly<Record<string, string>> = { b: '\b', t: '\t', n: '\n', f: '\f', r: '\r', e: '\u001b', '"': '"', '\\': '\\' };

/** Nothing may be added to an inline table, nor to what it holds. */
function closed(table: TomlTable): void {
  table.origin = 'inline';
  for (const member of table.members.values()) if (member.kind === 'table') closed(member);
}
