import { TextDecoder } from 'node:util';
import { charsetOf, decodeWhole } from './charset.ts';
import { unflowed } from './flowed-text.ts';
import type { MimePart } from './mime-tree.ts';
import type { Pace } from './pace.ts';
import { transferDecoded } from './transfer-decoding.ts';

/** Characters of text that are read of one mail, all parts together: what is more is cut, and said to be. */
export const MAX_TEXT = 2 * 1024 * 1024;
/** Bytes that can make that many characters, line ends and escapes included. */
const MAX_ENCODED = 4 * MAX_TEXT;
/** What a decoder puts in for bytes that it cannot read. */
const SUBSTITUTE = '\ufffd';
/** A longer text is decoded in stretches. */
const STRETCH = 1024 * 1024;

/** What may still be read of the text of one mail. */
export class TextBudget {
  #characters = MAX_TEXT;
  #encoded = MAX_ENCODED;

  get characters(): number {
    return this.#characters;
  }

  get encoded(): number {
    return this.#encoded;
  }

  /** A text that fits is taken from the budget; of one that does not nothing is left. */
  afford(text: string): string {
    if (text.length > this.#characters) return '';
    this.take(text.length, 0);
    return text;
  }

  take(characters: number, encoded: number): void {
    this.#characters -= characters;
    this.#encoded -= encoded;
  }
}

export interface PartText {
  readonly text: string;
  /** True if the budget did not reach to its end. */
  readonly isCut: boolean;
  /** True if letters may be wrong: its charset is not known and was guessed, or its bytes do not fit it. */
  readonly isDoubtful: boolean;
}

/** Text of a part within the budget, which it is taken from. @param goesOn true if more of its body lies behind what was read */
export async function textOfPart(part: MimePart, budget: TextBudget, pace: Pace, goesOn = false): Promise<PartText> {
  const body = part.body.subarray(0, budget.encoded);
  const bytes = await transferDecoded(part.encoding, body, pace);
  const isPiece = goesOn || body.length < part.body.length;
  const { label, isGuess } = charsetOf(part.charset, isPiece ? withoutHalf(bytes) : bytes);
  const whole = await decoded(bytes, label, budget.characters, pace);
  const text = whole.length > budget.characters ? whole.slice(0, budget.characters) : whole;
  const isCut = body.length < part.body.length || text.length < whole.length;
  const isDoubtful = isGuess || (text.includes(SUBSTITUTE) && (await isMalformed(bytes, label, isPiece || isCut, pace)));
  budget.take(text.length, body.length);
  await pace.after(body.length);
  return { text: part.isFlowed ? unflowed(text, part.deletesSpaces) : text, isCut, isDoubtful };
}

/** Without the beginning of a UTF-8 character at its end, which would tell of another charset. */
function withoutHalf(bytes: Buffer): Buffer {
  let end = bytes.length;
  while (end > 0 && bytes.length - end < 3 && (bytes[end - 1]! & 0xc0) === 0x80) end -= 1;
  return end > 0 && bytes[end - 1]! >= 0xc0 ? bytes.subarray(0, end - 1) : bytes;
}

/** @param enough characters after which the rest need not be decoded */
async function decoded(bytes: Buffer, label: string, enough: number, pace: Pace): Promise<string> {
  if (bytes.length <= STRETCH) return decodeWhole(bytes, label);
  const decoder = new TextDecoder(label);
  let text = '';
  for (let at = 0; at < bytes.length && text.length <= enough; at += STRETCH) {
    const end = at + STRETCH;
    text += decoder.decode(bytes.subarray(at, end), { stream: end < bytes.length });
    await pace.after(STRETCH);
  }
  return text;
}

/** Tells bytes that cannot be read from a text that holds the substitute itself. Asked only where one stands, since it decodes all again. @param goesOn true if these are not all bytes, so that the last character may be half */
async function isMalformed(bytes: Buffer, label: string, goesOn: boolean, pace: Pace): Promise<boolean> {
  const decoder = new TextDecoder(label, { fatal: true });
  try {
    for (let at = 0; at < bytes.length; at += STRETCH) {
      const end = at + STRETCH;
      decoder.decode(bytes.subarray(at, end), { stream: goesOn || end < bytes.length });
      await pace.after(STRETCH);
    }
  } catch {
    return true;
  }
  return false;
}
