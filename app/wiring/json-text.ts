export type Json = string | number | boolean | null | readonly Json[] | { readonly [key: string]: Json };

/** How a value is laid out: over lines from an indentation on, on one line, or without a space. */
export type Layout = { readonly indent: string; readonly unit: string; readonly eol: string } | 'line' | 'minified';

/** JSON text of a value. Lists stay on one line: in settings they are short argument lists. */
export function jsonText(value: Json, layout: Layout): string {
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const [comma, colon] = layout === 'minified' ? [',', ':'] : [', ', ': '];
  if (Array.isArray(value)) return `[${(value as readonly Json[]).map((item) => jsonText(item, layout === 'minified' ? layout : 'line')).join(comma)}]`;
  const pairs = Object.entries(value as { readonly [key: string]: Json });
  if (pairs.length === 0) return '{}';
  if (typeof layout === 'string') {
    const inner = pairs.map(([key, item]) => `${JSON.stringify(key)}${colon}${jsonText(item, layout)}`).join(comma);
    return layout === 'minified' ? `{${inner}}` : `{ ${inner} }`;
  }
  const { eol, unit } = layout;
  const indent = layout.indent + unit;
  const lines = pairs.map(([key, item]) => `${indent}${JSON.stringify(key)}: ${jsonText(item, { indent, unit, eol })}`);
  return `{${eol}${lines.join(`,${eol}`)}${eol}${layout.indent}}`;
}

/** The line ending that a text uses first; `\n` where it has none. */
export function lineEnding(text: string): string {
  return /\r\n|\n|\r/u.exec(text)?.[0] ?? '\n';
}

/** 1-based line of an offset. */
export function lineAt(text: string, offset: number): number {
  return text.slice(0, offset).split(/\r\n|\n|\r/u).length;
}

export interface Splice {
  readonly offset: number;
  readonly length: number;
  readonly text: string;
}

/** Applies splices that don't overlap. */
export function spliced(text: string, splices: readonly Splice[]): string {
  let result = text;
  for (const { offset, length, text: insert } of [...splices].sort((a, b) => b.offset - a.offset)) {
    result = result.slice(0, offset) + insert + result.slice(offset + length);
  }
  return result;
}
