import { StoreError, type KnownChat, type MessagesReader } from '../apple/reader.ts';
import type { ChatRow } from '../contract/values.ts';
import { cleanText } from '../events/text.ts';
import { inQuotes } from '../text/quotes.ts';
import type { Outcome } from '../policy/change.ts';

const NAME_LIMIT = 256;
const LISTED = 20;
/** What a chat's guid looks like: `iMessage;+;chat123`, `any;-;+15550101234` (data-formats/chat-db 6). */
const GUID = /^[^;]*;[+-];.+$/;

/** Chats that are rules, with their names. Names are looked up while Messages can be read, and kept in memory. */
export class ChatNames {
  readonly #reader: () => MessagesReader | null;
  readonly #known = new Map<string, ChatRow>();

  /** @param reader null while New message is off or the store cannot be read */
  constructor(reader: () => MessagesReader | null) {
    this.#reader = reader;
  }

  rows(guids: readonly string[]): ChatRow[] {
    return guids.map((guid) => this.#known.get(guid) ?? this.#lookUp(guid));
  }

  find(text: string, limit: number): ChatRow[] {
    return (this.#reader()?.searchChats(text.trim(), limit) ?? []).map(rowOf);
  }

  /** Names may have changed, or can be looked up now. */
  forget(): void {
    this.#known.clear();
  }

  /** Chats as a person names them: by guid, or by exact name, which must fit one (ruling 12). @param lists whether a refusal says which there are */
  resolve(names: readonly string[], lists = true): { readonly ok: true; readonly chats: string[] } | Extract<Outcome, { ok: false }> {
    const reader = this.#reader();
    const chats: string[] = [];
    for (const name of names) {
      const found = reader?.findChats(name) ?? [];
      if (found.length === 1) chats.push(found[0]!.guid);
      else if (!lists && reader !== null) return invalid(`${quote(name)} is not the id or the exact name of one chat. The window of Belfry shows them.`);
      else if (found.length > 1) return invalid(`${quote(name)} fits ${found.length} chats; say which: ${found.map(({ guid }) => quote(guid)).join(', ')}.`);
      else if (reader === null && GUID.test(name)) chats.push(name);
      else if (reader === null) return invalid(`${quote(name)}: chats can be found by name once New message is on and Messages can be read.`);
      else return invalid(`No chat is called ${quote(name)}; there are ${reader.chatNames(LISTED).map((each) => inQuotes(cleanText(each, 80))).join(', ') || 'none'}.`);
    }
    return { ok: true, chats };
  }

  /** The same for chats that are rules: also one whose row is gone. */
  resolveRules(names: readonly string[], guids: readonly string[]): string[] {
    const rows = this.rows(guids);
    return names.flatMap((name) => rows.filter((row) => row.id === name || row.name === name).map(({ id }) => id));
  }

  #lookUp(guid: string): ChatRow {
    try {
      const chat = this.#reader()?.chatByGuid(guid) ?? null;
      if (chat !== null) {
        const row = rowOf(chat);
        this.#known.set(guid, row);
        return row;
      }
    } catch (error) {
      // The store went in this moment: the tail says so, and the guid stands for the name.
      if (!(error instanceof StoreError)) throw error;
    }
    return { id: guid, name: cleanText(guid, NAME_LIMIT), isGroup: guid.includes(';+;'), participants: null, lastAt: null };
  }
}

const rowOf = ({ guid, title, isGroup, participantCount, date }: KnownChat): ChatRow => ({
  id: guid, name: cleanText(title, NAME_LIMIT), isGroup, participants: participantCount, lastAt: date,
});
const invalid = (message: string) => ({ ok: false, code: 'invalid', message }) as const;
const quote = (name: string) => JSON.stringify(cleanText(name, 80));
