import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto';
import { z } from 'zod';
import { invalidParams } from '../events/errors.ts';
import type { Principal } from '../events/verdict.ts';

const RULE = 'must be nextCursor of the last answer to the same question. One from before Belfry was started anew is over: ask without it to begin again.';
const MAX_CURSOR = 256;
/** A date as stored and a row, in characters: every cursor is as long as any other. */
const PLACE_LENGTH = 40;
const [CIPHER, NONCE_BYTES, TAG_BYTES] = ['aes-256-gcm', 12, 16] as const;

export const cursorArgument = z.string().max(MAX_CURSOR, RULE).describe('nextCursor of the last answer; the other arguments stay as they were.');

/** Where the lists of one question go on. */
export interface ListCursors {
  seal(place: string): string;
  /**
   * The place that was sealed; null where there is no cursor.
   * @throws EventsError -32602 for what was not sealed for this question.
   */
  open(cursor: string | undefined): string | null;
}

/**
 * A list goes on behind the last row that was looked at, which need not be one that the client may read: its date and its number
 * are sealed. The key is in memory alone, so a cursor lasts until the engine ends. Sealed anew a place looks another way,
 * so that two cursors do not tell whether anything came between.
 */
export class SealedCursors {
  readonly #key = randomBytes(32);

  /** @param args what the list depends on: a cursor of other arguments, of another client or another tool is none. */
  of(tool: string, { id }: Principal, args: readonly unknown[]): ListCursors {
    const question = Buffer.from(JSON.stringify([tool, id, ...args.map((each) => each ?? null)]));
    return {
      seal: (place) => {
        const nonce = randomBytes(NONCE_BYTES);
        const cipher = createCipheriv(CIPHER, this.#key, nonce, { authTagLength: TAG_BYTES }).setAAD(question);
        return Buffer.concat([nonce, cipher.update(place.padEnd(PLACE_LENGTH)), cipher.final(), cipher.getAuthTag()]).toString('base64url');
      },
      open: (cursor) => {
        if (cursor === undefined) return null;
        const bytes = Buffer.from(cursor, 'base64url');
        if (bytes.length < NONCE_BYTES + PLACE_LENGTH + TAG_BYTES || bytes.toString('base64url') !== cursor) throw invalidParams(`cursor: ${RULE}`);
        const decipher = createDecipheriv(CIPHER, this.#key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES }).setAAD(question).setAuthTag(bytes.subarray(-TAG_BYTES));
        const place = decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8');
        try {
          return (place + decipher.final('utf8')).trimEnd();
        } catch {
          throw invalidParams(`cursor: ${RULE}`);
        }
      },
    };
  }
}
