import { createHash } from 'node:crypto';

/** How long after a reply its echo may come, by a monotonic clock. */
const EXPECT_MS = 5 * 60_000;
const MAX_EXPECTED = 200;

interface Expected {
  readonly chat: string;
  readonly hash: string;
  readonly until: number;
  /** The row that was taken for it: the same answer each time it is asked for, and for no other row. */
  rowid: number | null;
}

/**
 * What Belfry itself sent lately, as hashes in memory, so that a reply never rings. Messages writes a reply to oneself
 * twice, sent and received, and a sent row may stand as received for some milliseconds (data-formats/chat-db 4).
 */
export class Echoes {
  readonly #monotonic: () => number;
  #expected: Expected[] = [];

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Before a text goes out: its rows may come before the app has answered. @param chat guid */
  expect(chat: string, text: string): void {
    this.#drop();
    this.#expected.push({ chat, hash: echoHash(text), until: this.#monotonic() + EXPECT_MS, rowid: null });
    this.#expected = this.#expected.slice(-MAX_EXPECTED);
  }

  /** Whether the texts of a chat have to be read at all. */
  expects(chat: string): boolean {
    if (this.#expected.length === 0) return false;
    this.#drop();
    return this.#expected.some((each) => each.chat === chat);
  }

  /** Whether a row has the text of a reply. @param takes true: the row is its echo, and no other row is */
  matches(chat: string, rowid: number, text: string, takes: boolean): boolean {
    const hash = echoHash(text);
    const found = this.#expected.find((each) => each.chat === chat && each.hash === hash && (each.rowid === null || each.rowid === rowid));
    if (found !== undefined && takes) found.rowid = rowid;
    return found !== undefined;
  }

  #drop(): void {
    const now = this.#monotonic();
    if (this.#expected.some(({ until }) => until <= now)) this.#expected = this.#expected.filter(({ until }) => until > now);
  }
}

/** Messages may straighten quotes and fold spaces on the way. */
export function echoHash(text: string): string {
  const folded = text.normalize('NFC').replace(/\u200c|\u200d|\ufe0e|\ufe0f|\ufffc|\ufffd/g, '').replace(/[\u2018\u2019]/g, "'").replace(/[\u201c\u201d]/g, '"').replace(/\s+/g, ' ').trim();
  return createHash('sha256').update(folded).digest('hex');
}
