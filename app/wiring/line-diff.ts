import { jsonEscape, linesWithoutHidden } from '../text/hidden.ts';

export interface DiffLine {
  readonly kind: 'same' | 'added' | 'removed';
  readonly text: string;
}

/** Lines that don't change and are shown around a change. Few: other servers' entries can hold secrets. */
const CONTEXT = 2;
/** A longer line is shown around its change only: some programs keep all settings on one line. */
const MAX_LINE = 240;
const MAX_SAME = 120;
const AROUND = 40;
/** More changed lines than this are shown as all removed, then all added. */
const MAX_TABLE = 500;

/** What a change does, by line. The lines are to read: long ones are cut, and characters that could mislead are spelled out. */
export function lineDiff(before: string, after: string): DiffLine[] {
  const old = linesOf(before);
  const now = linesOf(after);
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < old.length - head && tail < now.length - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const middle = changed(old.slice(head, old.length - tail), now.slice(head, now.length - tail));
  const same = (text: string): DiffLine => ({ kind: 'same', text });
  return [
    ...old.slice(Math.max(0, head - CONTEXT), head).map(same),
    ...middle,
    ...old.slice(old.length - tail, old.length - tail + CONTEXT).map(same),
  ].map(({ kind, text }) => ({ kind, text: readable(kind === 'same' && text.length > MAX_SAME ? `${text.slice(0, MAX_SAME)}…` : text) }));
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r\n|\n|\r/u);
  if (lines.at(-1) === '') lines.pop();
  return lines;
}

/** The longest common subsequence decides which lines stayed. */
function changed(old: readonly string[], now: readonly string[]): DiffLine[] {
  if (old.length * now.length === 0 || old.length > MAX_TABLE || now.length > MAX_TABLE) return cut(old, now);
  const table = Array.from({ length: old.length + 1 }, () => new Uint16Array(now.length + 1));
  for (let i = old.length - 1; i >= 0; i -= 1) {
    for (let j = now.length - 1; j >= 0; j -= 1) {
      table[i]![j] = old[i] === now[j] ? table[i + 1]![j + 1]! + 1 : Math.max(table[i + 1]![j]!, table[i]![j + 1]!);
    }
  }
  const lines: DiffLine[] = [];
  let removed: string[] = [];
  let added: string[] = [];
  let i = 0;
  let j = 0;
  const flush = (): void => {
    lines.push(...cut(removed, added));
    removed = [];
    added = [];
  };
  while (i < old.length || j < now.length) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      flush();
      lines.push({ kind: 'same', text: old[i]! });
      i += 1;
      j += 1;
    } else if (j >= now.length || (i < old.length && table[i + 1]![j]! >= table[i]![j + 1]!)) {
      removed.push(old[i]!);
      i += 1;
    } else {
      added.push(now[j]!);
      j += 1;
    }
  }
  flush();
  return lines;
}

/** Removed lines, then added ones; a long pair is cut to where the two differ. */
function cut(removed: readonly string[], added: readonly string[]): DiffLine[] {
  const pairs = removed.map((text, index) => shortened(text, added[index] ?? ''));
  return [
    ...pairs.map(([text]): DiffLine => ({ kind: 'removed', text })),
    ...added.map((text, index): DiffLine => ({ kind: 'added', text: pairs[index]?.[1] ?? text })),
  ];
}

function shortened(old: string, now: string): readonly [string, string] {
  if (Math.max(old.length, now.length) <= MAX_LINE) return [old, now];
  let head = 0;
  while (head < old.length && head < now.length && old[head] === now[head]) head += 1;
  let tail = 0;
  while (tail < Math.min(old.length, now.length) - head && old[old.length - 1 - tail] === now[now.length - 1 - tail]) tail += 1;
  const window = (text: string): string => {
    const from = Math.max(0, head - AROUND);
    const to = Math.min(text.length, text.length - tail + AROUND);
    return `${from > 0 ? '…' : ''}${text.slice(from, to)}${to < text.length ? '…' : ''}`;
  };
  return [window(old), window(now)];
}

/** Characters that could hide what a change really is, as JSON escapes them. */
const readable = (text: string): string => linesWithoutHidden(text, jsonEscape);
