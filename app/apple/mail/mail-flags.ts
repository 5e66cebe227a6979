/** The bit field `flags` of an .emlx footer and of `messages` (data-formats/envelope-index 8). */
export interface MailFlagBits {
  readonly read: boolean;
  readonly deleted: boolean;
  readonly answered: boolean;
  readonly encrypted: boolean;
  readonly flagged: boolean;
  readonly recent: boolean;
  readonly draft: boolean;
  /** Obsolete "initial" bit; still set in samples. */
  readonly initial: boolean;
  readonly forwarded: boolean;
  readonly redirected: boolean;
  /** 0 to 62; null for 63, "unknown or more". */
  readonly attachments: number | null;
  readonly priority: number;
  readonly signed: boolean;
  readonly junk: boolean;
  readonly notJunk: boolean;
}

/** Values go beyond 32 bits, so bits are cut out by division. A value that is no whole number from 0 on counts as 0. */
export function readFlags(value: number): MailFlagBits {
  const flags = Number.isSafeInteger(value) && value >= 0 ? value : 0;
  const field = (from: number, bits: number): number => Math.floor(flags / 2 ** from) % 2 ** bits;
  const bit = (at: number): boolean => field(at, 1) === 1;
  const attachments = field(10, 6);
  return {
    read: bit(0), deleted: bit(1), answered: bit(2), encrypted: bit(3), flagged: bit(4), recent: bit(5), draft: bit(6), initial: bit(7),
    forwarded: bit(8), redirected: bit(9), attachments: attachments === 63 ? null : attachments, priority: field(16, 7), signed: bit(23),
    junk: bit(24), notJunk: bit(25),
  };
}
