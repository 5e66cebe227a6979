import { createHash } from 'node:crypto';

export interface MailAddress {
  readonly address: string;
  readonly name?: string | null;
}

/** One mail as a server would deliver it. Everything has a default. */
export interface Mail {
  /** Account identifier (UUID); default: the first account. */
  readonly account?: string;
  /** Decoded path, e.g. `INBOX` (any case), `Archive`, `[Gmail]/All Mail`; a label's path puts the mail there. */
  readonly mailbox?: string;
  /** null: a row without a sender. */
  readonly from?: MailAddress | null;
  readonly to?: readonly MailAddress[];
  readonly cc?: readonly MailAddress[];
  readonly subject?: string;
  /** With its trailing space, e.g. `Re: `. */
  readonly prefix?: string | null;
  /** Unix seconds; default now. null: none. */
  readonly dateReceived?: number | null;
  /** Unix seconds; default: date received. */
  readonly dateSent?: number | null;
  /** Message-ID header with its brackets; default a new one; '' for none (hash 0). */
  readonly messageId?: string;
  /** Message-ID that this mail answers: joins its conversation. */
  readonly inReplyTo?: string;
  readonly attachments?: readonly string[];
  /** Further labels (Gmail): decoded paths. */
  readonly labels?: readonly string[];
  /** Body preview; default text with a mark; null: none yet. */
  readonly summary?: string | null;
  readonly flags?: MailFlags;
  /** Bytes of the message; default some. */
  readonly size?: number;
  /** Writes the .emlx beside (default true). */
  readonly file?: boolean;
  /** What the .emlx says; default a mark that no output may hold. */
  readonly text?: string;
}

export interface MailFlags {
  readonly read?: boolean;
  readonly deleted?: boolean;
  readonly answered?: boolean;
  readonly flagged?: boolean;
  readonly draft?: boolean;
  readonly junk?: boolean;
  /** 0 red to 6 gray. */
  readonly color?: number;
}

/** 64-bit hash of a Message-ID (data-formats/envelope-index 3): MD5, first 8 bytes little endian; '' gives 0. */
export function messageIdHash(header: string): bigint {
  const end = header.indexOf('>');
  const before = end < 0 ? header : header.slice(0, end);
  const id = before.slice(before.lastIndexOf('<') + 1);
  if (id === '') return 0n;
  return createHash('md5').update(id, 'utf8').digest().readBigInt64LE(0);
}

/** `messages.flags` (data-formats/envelope-index 8): bit 33 as modern stores set it, priority normal. */
export function mailFlags(flags: MailFlags, attachments: number): bigint {
  let bits = (1n << 33n) | (3n << 16n) | (BigInt(Math.min(attachments, 63)) << 10n);
  if (flags.read === true) bits |= 1n;
  if (flags.deleted === true) bits |= 2n;
  if (flags.answered === true) bits |= 4n;
  if (flags.flagged === true) bits |= 16n;
  if (flags.draft === true) bits |= 64n;
  bits |= flags.junk === true ? 1n << 24n : 1n << 25n;
  return bits;
}

/** Path of a mailbox in a URL: UTF-8, percent-escaped (data-formats/envelope-index 5). */
export function escapedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

export function decodedPath(url: string): string {
  const at = url.indexOf('/', url.indexOf('://') + 3);
  return url
    .slice(at + 1)
    .split('/')
    .map((part) => {
      try {
        return decodeURIComponent(part);
      } catch {
        return part;
      }
    })
    .join('/')
    .normalize('NFC');
}
