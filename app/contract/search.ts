import { z } from 'zod';

const count = z.int().min(0);
const at = z.number();

/** The full-text index of mail as a whole: every figure that there is of it. Times are Unix ms. */
export const searchState = z.object({
  /**
   * `off`: no client may search mail, so there is no index. `unavailable`: one may, and nothing can keep it (see `sentence`).
   * `waiting`: Mail is not read, because New mail is off or its store cannot be opened. `opening`, `comparing`, `building`,
   * `ready`: in this order. `paused`: see `pausedBy`. `failed`: see `sentence`; it is tried again by itself.
   */
  phase: z.enum(['off', 'unavailable', 'waiting', 'opening', 'comparing', 'building', 'paused', 'ready', 'failed']),
  /** When this phase began; null while off. */
  since: at.nullable(),
  /** `owner`: Belfry is paused. `battery`: the owner wants no indexing on battery. */
  pausedBy: z.enum(['owner', 'battery']).nullable(),
  /** Why there is none, why it failed, or null. */
  sentence: z.string().nullable(),
  /** Null while there is none. */
  encrypted: z.boolean().nullable(),
  /** Mails in the index; mails that should be in it; those of them that are not yet. */
  indexed: count,
  total: count,
  pending: count,
  /** Mails a second over the last stretch of building, or null. */
  perSecond: z.number().min(0).nullable(),
  /** Mails whose text could not be read whole, by the kind of trouble; what was read of them is found. */
  deadLetters: z.array(z.object({ reason: z.string(), count })),
  /** Bytes of the file, and of the text that it stands for. */
  bytes: count,
  textBytes: count,
  /** The last complete comparison with Mail. */
  syncedAt: at.nullable(),
});

export type SearchState = z.output<typeof searchState>;

/**
 * Which mails could not be read whole, for the owner's own eyes: neither subjects nor people. Of each kind the newest, at most
 * 20. `row` in Mail's index; the mailbox as `Account/Path`, or null where Mail does not say; Unix ms.
 */
export const deadLetters = z.object({ reason: z.string(), count, mails: z.array(z.object({ row: z.int(), mailbox: z.string().nullable(), date: at.nullable() })) });

export type DeadLetters = z.output<typeof deadLetters>;

/** One line a mail: enough to find it in Mail. */
export function deadLetterLines({ count: all, mails }: DeadLetters): string[] {
  const lines = mails.map(({ row, mailbox, date }) => `row ${row}, ${mailbox ?? 'mailbox not known'}, ${date === null ? 'no date' : new Date(date).toISOString().slice(0, 10)}`);
  return all > mails.length ? [...lines, `and ${all - mails.length} more`] : lines;
}

export const searchOff: SearchState = {
  phase: 'off', since: null, pausedBy: null, sentence: null, encrypted: null, indexed: 0, total: 0, pending: 0, perSecond: null, deadLetters: [], bytes: 0, textBytes: 0, syncedAt: null,
};
