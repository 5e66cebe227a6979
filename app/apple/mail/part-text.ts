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

  take(characters: number, encoded: number): void {
    this.#characters -= characters;
    this.#encoded -= encoded;
  }
}

export interface PartText {
  readonly text: string;
  /** True if the budget did not reach to its end. */
  readonly isCut: boolean;
  /** True if its charset is not known and was guessed. */
  readonly isGuess: boolean;
}

/** Text of a part within the budget, which it is taken from. */
export async function textOfPart(part: MimePart, budget: TextBudget, pace: Pace): Promise<PartText> {
  const body = part.body.subarray(0, budget.encoded);
  const bytes = await transferDecoded(part.encoding, body, pace);
  const { label, isGuess } = charsetOf(part.charset, bytes);
  const whole = await decoded(bytes, label, budget.characters, pace);
  const text = whole.length > budget.characters ? whole.slice(0, budget.characters) : whole;
  const isCut = body.length < part.body.length || text.length < whole.length;
  budget.take(text.length, body.length);
  await pace.after(body.length);
  return { text: part.isFlowed ? unflowed(text, part.deletesSpaces) : text, isCut, isGuess };
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
