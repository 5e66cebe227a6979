import { isDeepStrictEqual } from 'node:util';
import { createScanner, getNodeValue, parseTree, visit, type Node } from 'jsonc-parser';
import { jsonText, lineAt, lineEnding, spliced, type Json, type Layout, type Splice } from './json-text.ts';
import type { Server, ServerEntry, SettingsFormat } from './server-entry.ts';
import { SettingsTrouble } from './trouble.ts';

/** Far deeper than any settings, and well within what a recursive parser stands. */
const MAX_DEPTH = 100;
/** jsonc-parser's token codes; its own names are a const enum, which type stripping can't read. */
const Token = { comma: 5, lineComment: 12, blockComment: 13, lineBreak: 14, trivia: 15, end: 17 } as const;
const PARSE = { allowTrailingComma: true, allowEmptyContent: true };

/**
 * JSON with comments and trailing commas, edited in place: every byte outside our entry stays, but for the comma that
 * joins it to its neighbour and the objects that had to be made for it.
 * @param places where the map of servers may be, if need be by the root's value; the first is where a new entry goes
 */
export function jsonSettings(places: (root: () => Json) => readonly (readonly string[])[]): SettingsFormat {
  const servers = (text: string): Server[] => {
    const root = parsed(text);
    if (root === null) return [];
    return places(() => valueOf(root)).flatMap((place) => {
      const map = mapAt(text, root, place);
      return (map?.children ?? []).flatMap((property): Server[] => {
        const [key, value] = property.children ?? [];
        if (!key || !value) return [];
        return [{ place, key: String(key.value), entry: value.type === 'object' ? valueOf(value) as ServerEntry : null }];
      });
    });
  };
  return {
    servers,
    place(text) {
      const root = parsed(text);
      return places(() => (root === null ? {} : valueOf(root)))[0]!;
    },
    add(text, place, key, entry) {
      const root = parsed(text);
      const result = root === null ? withNewRoot(text, nested([...place, key], entry)) : added(text, root, place, key, entry);
      return checked(text, result, place, key, entry);
    },
    update(text, place, key, entry) {
      let result = text;
      for (const [name, value] of Object.entries(entry)) result = withMember(result, place, key, name, value);
      return checked(text, result, place, key, { ...valueOf(entryNode(text, place, key)) as ServerEntry, ...entry });
    },
    remove(text, place, key) {
      const property = propertyOf(text, place, key);
      return checked(text, spliced(text, removal(text, property)), place, key, null);
    },
  };
}

/** The root object, or null where the text has no value at all. @throws SettingsTrouble */
function parsed(text: string): Node | null {
  let depth = 0;
  const open = (): void => {
    depth += 1;
    if (depth > MAX_DEPTH) throw new SettingsTrouble('unreadable', `The file is nested more than ${MAX_DEPTH} levels deep.`);
  };
  const close = (): void => {
    depth -= 1;
  };
  // The parser recovers from any number of errors and any depth; a file of somebody else's making ends at the first.
  visit(text, {
    onObjectBegin: open,
    onArrayBegin: open,
    onObjectEnd: close,
    onArrayEnd: close,
    onError: (_code, offset) => {
      throw new SettingsTrouble('unreadable', `Line ${lineAt(text, offset)} of the file is not valid JSON.`);
    },
  }, PARSE);
  const root = parseTree(text, [], PARSE);
  if (!root) return null;
  if (root.type !== 'object') throw new SettingsTrouble('cant-write', 'The file holds no JSON object.');
  return root;
}

/** The object at a path, or undefined where it isn't there. */
function mapAt(text: string, root: Node, place: readonly string[]): Node | undefined {
  let node: Node | undefined = root;
  for (const [depth, name] of place.entries()) {
    node = memberOf(text, node, name)?.children?.[1];
    if (!node) return undefined;
    if (node.type !== 'object') throw new SettingsTrouble('cant-write', `In the file, ${place.slice(0, depth + 1).join('.')} is not an object.`);
  }
  return node;
}

function memberOf(text: string, object: Node, name: string): Node | undefined {
  const [found, second] = (object.children ?? []).filter((property) => property.children?.[0]?.value === name);
  if (second) throw new SettingsTrouble('cant-write', `Line ${lineAt(text, second.offset)} of the file has the key "${name}" a second time.`);
  return found;
}

function propertyOf(text: string, place: readonly string[], key: string): Node {
  const root = parsed(text);
  const map = root && mapAt(text, root, place);
  const property = map && memberOf(text, map, key);
  if (!property) throw new SettingsTrouble('cant-write', `The file has no entry "${key}".`);
  return property;
}

function entryNode(text: string, place: readonly string[], key: string): Node {
  const node = propertyOf(text, place, key).children?.[1];
  if (node?.type !== 'object') throw new SettingsTrouble('cant-write', `The entry "${key}" is not an object.`);
  return node;
}

function valueOf(node: Node): Json {
  return getNodeValue(node) as Json;
}

function nested(path: readonly string[], value: Json): Json {
  return path.reduceRight<Json>((inner, name) => ({ [name]: inner }), value);
}

function withNewRoot(text: string, value: Json): string {
  const eol = lineEnding(text);
  const written = `${jsonText(value, { indent: '', unit: '  ', eol })}${eol}`;
  if (text.trim() === '') return written;
  // Only comments: the object goes below them.
  return `${text}${/[\r\n]$/u.test(text) ? '' : eol}${written}`;
}

function added(text: string, root: Node, place: readonly string[], key: string, entry: ServerEntry): string {
  let object = root;
  for (const [depth, name] of place.entries()) {
    const inner = mapAt(text, root, place.slice(0, depth + 1));
    if (!inner) return spliced(text, insertion(text, root, object, name, nested([...place.slice(depth + 1), key], entry)));
    object = inner;
  }
  if (memberOf(text, object, key)) throw new SettingsTrouble('cant-write', `The file has an entry "${key}" already.`);
  return spliced(text, insertion(text, root, object, key, entry));
}

function withMember(text: string, place: readonly string[], key: string, name: string, value: Json): string {
  const object = entryNode(text, place, key);
  const member = memberOf(text, object, name)?.children?.[1];
  if (!member) return spliced(text, insertion(text, parsed(text)!, object, name, value));
  if (isDeepStrictEqual(plain(valueOf(member)), plain(value))) return text;
  return spliced(text, [{ offset: member.offset, length: member.length, text: jsonText(value, 'line') }]);
}

/** The splices that put a property behind an object's last one, in the file's own layout. */
function insertion(text: string, root: Node, object: Node, name: string, value: Json): Splice[] {
  const eol = lineEnding(text);
  const unit = indentUnit(text, root);
  const close = object.offset + object.length - 1;
  const last = object.children?.at(-1);
  const property = (layout: Layout): string => `${JSON.stringify(name)}:${layout === 'minified' ? '' : ' '}${jsonText(value, layout)}`;
  if (!last) {
    const { end, lineComment } = commentsUntil(text, object.offset + 1, close);
    const oneLine = object !== root && !/[\r\n]/u.test(text.slice(root.offset, root.offset + root.length)) && !lineComment;
    if (oneLine) return [{ offset: end, length: 0, text: property(/:\S/u.test(text) ? 'minified' : 'line') }];
    const base = indentAt(text, object.offset);
    const indent = base + unit;
    const rest = /[\r\n]/u.test(text.slice(end, close)) ? '' : eol + base;
    return [{ offset: end, length: 0, text: `${eol}${indent}${property({ indent, unit, eol })}${rest}` }];
  }
  const lastEnd = last.offset + last.length;
  const { comma, lineComment } = commentsUntil(text, lastEnd, close);
  const end = sameLineEnd(text, comma === null ? lastEnd : comma + 1, close);
  const own = startsLine(text, last.offset);
  const joint: Splice[] = comma === null ? [{ offset: lastEnd, length: 0, text: ',' }] : [];
  const trailing = comma === null ? '' : ',';
  let insert: string;
  if (own || lineComment) {
    const indent = own ? indentAt(text, last.offset) : indentAt(text, object.offset) + unit;
    insert = `${eol}${indent}${property({ indent, unit, eol })}${trailing}`;
  } else {
    const minified = text[(last.colonOffset ?? lastEnd) + 1]?.trim() !== '';
    insert = `${minified ? '' : ' '}${property(minified ? 'minified' : 'line')}${trailing}`;
  }
  if (joint.length > 0 && end === lastEnd) return [{ offset: lastEnd, length: 0, text: `,${insert}` }];
  return [...joint, { offset: end, length: 0, text: insert }];
}

/** The splices that take a property out again: the inverse of `insertion`. */
function removal(text: string, property: Node): Splice[] {
  const object = property.parent!;
  const siblings = object.children!;
  const index = siblings.indexOf(property);
  const open = object.offset + 1;
  const close = object.offset + object.length - 1;
  const next = siblings[index + 1]?.offset ?? close;
  const valueEnd = property.offset + property.length;
  const { comma } = commentsUntil(text, valueEnd, next);
  const splices: Splice[] = [];
  let end = valueEnd;
  if (comma !== null) {
    if (text.slice(valueEnd, comma).trim() === '') end = comma + 1;
    else splices.push({ offset: comma, length: 1, text: '' });
  } else if (index > 0) {
    const before = siblings[index - 1]!;
    const joint = commentsUntil(text, before.offset + before.length, property.offset).comma;
    if (joint !== null) splices.push({ offset: joint, length: 1, text: '' });
  }
  if (siblings.length === 1 && text.slice(open, property.offset).trim() === '' && text.slice(end, close).trim() === '') {
    return [{ offset: open, length: close - open, text: '' }];
  }
  const start = open + text.slice(open, property.offset).trimEnd().length;
  const gap = text.slice(start, property.offset);
  const restOfLine = /^[^\r\n]*/u.exec(text.slice(end))![0];
  const closes = end + /^\s*/u.exec(restOfLine)![0].length === close;
  const lastOnLine = restOfLine.trim() === '' || (closes && !endsInLineComment(text, open, start));
  // Whatever follows on the line keeps the line's start: joined to the line above it might end up in a comment.
  const withGap = /[\r\n]/u.test(gap) ? lastOnLine : index > 0 || comma === null;
  const from = withGap ? start : property.offset;
  const to = withGap ? end : end + /^[ \t]*/u.exec(restOfLine)![0].length;
  return [...splices, { offset: from, length: to - from, text: '' }];
}

/** What lies between two properties: where the comma is, where the last comment ends, whether one runs to its line's end. */
function commentsUntil(text: string, from: number, to: number): { readonly comma: number | null; readonly end: number; readonly lineComment: boolean } {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  let comma: number | null = null;
  let end = from;
  let lineComment = false;
  for (let token = scanner.scan() as number; token !== Token.end && scanner.getTokenOffset() < to; token = scanner.scan() as number) {
    if (token === Token.comma) comma ??= scanner.getTokenOffset();
    if (token === Token.lineComment || token === Token.blockComment) end = scanner.getPosition();
    if (token === Token.lineComment) lineComment = true;
  }
  return { comma, end, lineComment };
}

/** The end of the comments that follow on the same line. */
function sameLineEnd(text: string, from: number, to: number): number {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  let end = from;
  for (let token = scanner.scan() as number; scanner.getTokenOffset() < to; token = scanner.scan() as number) {
    if (token === Token.lineComment || token === Token.blockComment) end = scanner.getPosition();
    else if (token !== Token.trivia) break;
  }
  return end;
}

function endsInLineComment(text: string, from: number, to: number): boolean {
  const scanner = createScanner(text, false);
  scanner.setPosition(from);
  let line = false;
  for (let token = scanner.scan() as number; token !== Token.end && scanner.getTokenOffset() < to; token = scanner.scan() as number) {
    if (token !== Token.lineBreak && token !== Token.trivia) line = token === Token.lineComment;
  }
  return line;
}

function lineStart(text: string, offset: number): number {
  return Math.max(text.lastIndexOf('\n', offset - 1), text.lastIndexOf('\r', offset - 1)) + 1;
}

function indentAt(text: string, offset: number): string {
  return /^[ \t]*/u.exec(text.slice(lineStart(text, offset), offset))![0];
}

function startsLine(text: string, offset: number): boolean {
  const start = lineStart(text, offset);
  return start > 0 && text.slice(start, offset).trim() === '';
}

function indentUnit(text: string, root: Node): string {
  const first = root.children?.find((property) => startsLine(text, property.offset));
  return (first && indentAt(text, first.offset).slice(indentAt(text, root.offset).length)) || '  ';
}

/** The last gate: read again, the result differs from the text in our entry alone. */
function checked(text: string, result: string, place: readonly string[], key: string, entry: ServerEntry | null): string {
  const before = parsed(text);
  const after = parsed(result);
  const found = after && valueAt(valueOf(after), [...place, key]);
  const same = isDeepStrictEqual(without(before, place, key), without(after, place, key));
  if (!same || (entry === null ? found !== undefined : found === undefined || !isDeepStrictEqual(plain(found), plain(entry)))) {
    throw new SettingsTrouble('cant-write', 'The change could not be worked out without touching other settings.');
  }
  return result;
}

/** Also drops the objects that hold nothing but our entry: they may have been made for it. */
function without(root: Node | null, place: readonly string[], key: string): Json {
  const value = plain(root === null ? {} : valueOf(root));
  const chain: Record<string, Json>[] = [value as Record<string, Json>];
  for (const name of place) {
    const inner = chain.at(-1)![name];
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner)) break;
    chain.push(inner as Record<string, Json>);
  }
  if (chain.length === place.length + 1) delete chain.at(-1)![key];
  for (let depth = chain.length - 1; depth > 0; depth -= 1) {
    if (Object.keys(chain[depth]!).length === 0) delete chain[depth - 1]![place[depth - 1]!];
  }
  return value;
}

function valueAt(value: Json, path: readonly string[]): Json | undefined {
  let inner: Json | undefined = value;
  for (const name of path) {
    if (typeof inner !== 'object' || inner === null || Array.isArray(inner) || !Object.hasOwn(inner, name)) return undefined;
    inner = (inner as { readonly [key: string]: Json })[name];
  }
  return inner;
}

/** The parser's objects have no prototype: made like those here, at every level, so that they compare. */
function plain(value: Json): Json {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return (value as readonly Json[]).map(plain);
  const copy: Record<string, Json> = Object.create(null) as Record<string, Json>;
  for (const [key, item] of Object.entries(value)) copy[key] = plain(item);
  return copy;
}
