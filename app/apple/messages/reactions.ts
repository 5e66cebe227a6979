/** Columns of a row that reacts to a message. */
export interface ReactionRow {
  readonly rowid: number;
  /** `associated_message_guid`. */
  readonly target: string | null;
  /** `associated_message_type`. */
  readonly type: number;
  /** `associated_message_emoji`, where the version has it. */
  readonly emoji: string | null;
  /** Normalised handle; null for an own reaction. */
  readonly sender: string | null;
  /** Unix ms, or null. */
  readonly date: number | null;
}

export type ReactionKind = 'loved' | 'liked' | 'disliked' | 'laughed' | 'emphasised' | 'questioned' | 'emoji' | 'sticker';

export interface Reaction {
  readonly kind: ReactionKind;
  readonly emoji: string | null;
  readonly sender: string | null;
  readonly date: number | null;
  /** Part of the message that it hangs on. */
  readonly part: number;
}

/** 2000 to 2007; 3000 to 3007 take the same away (data-formats/chat-db 7). */
const KINDS: readonly ReactionKind[] = ['loved', 'liked', 'disliked', 'laughed', 'emphasised', 'questioned', 'emoji', 'sticker'];
const [ADDED, REMOVED] = [2000, 3000];

/** Guid and part of the message that a row hangs on: `p:<part>/<guid>`, `bp:<guid>`, or the bare guid. */
export function targetOf(target: string | null): { readonly guid: string; readonly part: number } | null {
  const found = /^(?:p:(\d{1,5})\/|bp:)?([^/:\s]{1,128})$/.exec(target ?? '');
  return found === null ? null : { guid: found[2]!, part: Number(found[1] ?? 0) };
}

/**
 * Reactions by guid of their message, as they stand after all rows, in the order in which they came. A person has one reaction of
 * each kind on a part; a removal takes it away even where its own row is all that is left.
 */
export function reactionsOf(rows: readonly ReactionRow[]): ReadonlyMap<string, readonly Reaction[]> {
  const byMessage = new Map<string, Map<string, Reaction>>();
  for (const row of [...rows].sort((a, b) => a.rowid - b.rowid)) {
    const target = targetOf(row.target);
    const isRemoval = row.type >= REMOVED;
    const kind = KINDS[row.type - (isRemoval ? REMOVED : ADDED)];
    if (target === null || kind === undefined) continue;
    const key = JSON.stringify([target.part, row.sender, kind, kind === 'emoji' ? row.emoji : null]);
    const reactions = byMessage.get(target.guid) ?? new Map<string, Reaction>();
    byMessage.set(target.guid, reactions);
    // Out first, so that one given anew stands last.
    reactions.delete(key);
    if (!isRemoval) reactions.set(key, { kind, emoji: row.emoji, sender: row.sender, date: row.date, part: target.part });
  }
  return new Map([...byMessage].flatMap(([guid, reactions]) => (reactions.size === 0 ? [] : [[guid, [...reactions.values()]] as const])));
}
