import type { BodyForm } from './typedstream.ts';

export interface ChatInput {
  /** Number, e-mail, or for a group `chat<digits>`; default: the sender, or a new group name. */
  readonly identifier?: string;
  readonly group?: boolean;
  /** Handles of a group's members without me; default: the sender. */
  readonly members?: readonly string[];
  /** Group name; default none. */
  readonly name?: string | null;
  /** `any`: guids as macOS 26 writes them; `service`: as before. Default by version. */
  readonly guidStyle?: 'any' | 'service';
  /** `is_filtered` code (data-formats/chat-db 10); default NULL. */
  readonly filtered?: number | null;
  readonly blackholed?: boolean;
}

/** One message as it would arrive. Everything has a default. */
export interface Message {
  /** Handle of the sender, or of the other party of an own message; default `+15550100`. */
  readonly from?: string;
  /** `iMessage` (default), `SMS`, `RCS`, or as spelled. */
  readonly service?: string;
  /** Default: a text with a mark. null: neither text nor body. */
  readonly text?: string | null;
  /** Form of `attributedBody`; `none`: text column only. Default `immutable`. */
  readonly body?: BodyForm | 'none';
  /** Fill the `text` column too; default only before macOS 26. */
  readonly plainText?: boolean;
  readonly chat?: ChatInput;
  /** Transfer names; default none. */
  readonly attachments?: readonly string[];
  /** Unix milliseconds; default now. null: none. */
  readonly date?: number | null;
  readonly fromMe?: boolean;
  /** Guid of the message this one answers in a thread. */
  readonly threadOriginator?: string;
  readonly guid?: string;
  /** Values of columns of `message` as they are; unknown columns of the version are left out. */
  readonly set?: { readonly [column: string]: string | number | bigint | Uint8Array | null };
}

/** Seconds from 1970 to 2001. */
const EPOCH = 978_307_200;

/** Apple time of a Unix time in ms: nanoseconds since 2001, or seconds in the era of 10.11 (data-formats/chat-db 3). */
export function appleTime(unixMs: number, unit: 'ns' | 's'): bigint {
  const ms = BigInt(Math.round(unixMs)) - BigInt(EPOCH) * 1000n;
  return unit === 'ns' ? ms * 1_000_000n : ms / 1000n;
}

export function newGuid(): string {
  return crypto.randomUUID().toUpperCase();
}
