import { readBinaryPlist, type PlistValue } from '../binary-plist.ts';
import { EPOCH_MS } from './message-columns.ts';
import { shown } from './message-text.ts';
import { readBodyText } from './typedstream.ts';

/** One version of a part of a message, the oldest first. */
export interface TextVersion {
  readonly text: string;
  /** Unix ms, or null. */
  readonly date: number | null;
}

/** What `message_summary_info` tells (data-formats/chat-db 8). */
export interface MessageEdits {
  /** Versions of each edited part, by part number. The last one is what shows. */
  readonly versions: ReadonlyMap<number, readonly TextVersion[]>;
  /** Parts that were taken back. */
  readonly unsent: readonly number[];
}

const NONE: MessageEdits = { versions: new Map(), unsent: [] };
const MAX_PARTS = 200;
/** Messages allows five edits; old clients may have more. */
const MAX_VERSIONS = 50;

/** Edits and unsends of a message; nothing for a blob that is none. Never throws. */
export function readEdits(summaryInfo: Uint8Array | null): MessageEdits {
  const info = summaryInfo === null ? null : readBinaryPlist(summaryInfo);
  if (!isDictionary(info)) return NONE;
  const versions = new Map<number, readonly TextVersion[]>();
  if (isDictionary(info['ec'])) {
    for (const [part, history] of Object.entries(info['ec']).slice(0, MAX_PARTS)) {
      if (/^\d{1,4}$/.test(part) && isArray(history)) versions.set(Number(part), history.slice(0, MAX_VERSIONS).flatMap(versionOf));
    }
  }
  const unsent = isArray(info['rp']) ? info['rp'].filter((part): part is number => typeof part === 'number' && Number.isInteger(part) && part >= 0).slice(0, MAX_PARTS) : [];
  return { versions, unsent };
}

function versionOf(entry: PlistValue): TextVersion[] {
  if (!isDictionary(entry) || !(entry['t'] instanceof Uint8Array)) return [];
  const text = readBodyText(entry['t']);
  const seconds = entry['d'];
  return text === null ? [] : [{ text: shown(text), date: typeof seconds === 'number' && Number.isFinite(seconds) ? Math.round(seconds * 1000 + EPOCH_MS) : null }];
}

const isArray = (value: PlistValue | undefined): value is readonly PlistValue[] => Array.isArray(value);
function isDictionary(value: PlistValue | undefined): value is { readonly [key: string]: PlistValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value) && !(value instanceof Uint8Array);
}
