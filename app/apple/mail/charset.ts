import { isUtf8 } from 'node:buffer';
import { TextDecoder } from 'node:util';

/** Charsets that senders give for text that is UTF-8. */
const OFTEN_LIES = new Set(['us-ascii', 'ascii', 'ansi_x3.4-1968', 'iso-8859-1', 'latin1', 'windows-1252', 'cp1252', '']);
/** Numbers of code pages that the platform knows by another name only. */
const CODE_PAGES: Readonly<Record<string, string>> = {
  '932': 'shift_jis', '936': 'gbk', '949': 'euc-kr', '950': 'big5', '51932': 'euc-jp', '51949': 'euc-kr', '50220': 'iso-2022-jp', '50221': 'iso-2022-jp', '50222': 'iso-2022-jp', '54936': 'gb18030',
  '65001': 'utf-8', '20127': 'us-ascii', '20866': 'koi8-r', '21866': 'koi8-u', '10000': 'macintosh', '1200': 'utf-16le',
};
/** Bytes that switch the alphabet in encodings of seven bits: such text is plain ASCII only by its form. */
const SHIFTS = [0x1b, 0x0e];

/** How the bytes of one text are to be read. */
export interface Charset {
  /** A label of the platform. */
  readonly label: string;
  /** True if the name given is not known and the bytes do not tell either: letters beyond ASCII may be wrong. */
  readonly isGuess: boolean;
}

/** The charset of a text. Bytes that contradict the name win: UTF-8 is recognised by its form, and what nobody knows is read as windows-1252. */
export function charsetOf(name: string | null, bytes: Buffer): Charset {
  const label = labelOf(name ?? 'utf-8');
  if (label === null) {
    const isPlain = isUtf8(bytes) && !SHIFTS.some((shift) => bytes.includes(shift));
    return { label: isPlain ? 'utf-8' : 'windows-1252', isGuess: !isPlain };
  }
  if (name === null && !isUtf8(bytes)) return { label: 'windows-1252', isGuess: false };
  return { label: OFTEN_LIES.has((name ?? '').toLowerCase()) && isUtf8(bytes) ? 'utf-8' : label, isGuess: false };
}

const labels = new Map<string, string | null>();

/** Null for a name that the platform does not know. Few names exist, and those kept are bounded all the same. */
function labelOf(name: string): string | null {
  const key = name.toLowerCase();
  let found = labels.get(key);
  if (found === undefined) {
    const page = /^(?:x-)?(?:cp|ms|ibm|windows)[-_]?(\d{3,5})$/.exec(key)?.[1];
    found = known(key) ?? (page === undefined ? null : known(CODE_PAGES[page] ?? `windows-${page}`));
    if (labels.size < 256) labels.set(key.slice(), found);
  }
  return found;
}

function known(label: string): string | null {
  try {
    return new TextDecoder(label).encoding;
  } catch {
    return null;
  }
}

const decoders = new Map<string, TextDecoder>();

/** A whole text at once. @param label of the platform */
export function decodeWhole(bytes: Buffer, label: string): string {
  let decoder = decoders.get(label);
  // At most as many as the platform has labels for.
  if (decoder === undefined) decoders.set(label, (decoder = new TextDecoder(label)));
  return decoder.decode(bytes);
}
