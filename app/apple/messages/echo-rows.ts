import type { Chat } from '../occurrence.ts';
import type { Store } from '../store.ts';
import type { Echoes } from './echoes.ts';
import { unpeeked } from './message-columns.ts';
import { plainText, type TextColumns } from './message-text.ts';

/** Newest rows of a chat that tell which handles are own. */
const OWN_ROWS = 50;

/** Tells whether a received row is what Belfry sent. Texts are read only where something was sent to that chat lately. */
export class EchoRows {
  readonly #store: Store;
  readonly #normalise: (handle: string) => string;
  readonly #echoes: Echoes | undefined;

  constructor(store: Store, normalise: (handle: string) => string, echoes: Echoes | undefined) {
    this.#store = store;
    this.#normalise = normalise;
    this.#echoes = echoes;
  }

  /**
   * `own` in a chat with oneself. Elsewhere `open`: a sent row may stand as received for some milliseconds, and somebody
   * may answer in the same words; it is looked at again before it rings.
   */
  ask(rowid: number, chat: Chat, sender: string | null): 'own' | 'open' | null {
    if (this.#echoes === undefined || !this.#echoes.expects(chat.guid)) return null;
    const columns = this.#store.statement(`SELECT text, attributedBody FROM message WHERE ROWID = ${unpeeked('?')}`).get(rowid) as TextColumns | undefined;
    const text = columns === undefined ? '' : plainText(columns).text;
    if (text === '') return null;
    const isSelf = !chat.isGroup && sender !== null && this.#ownIn(chat.id).has(sender);
    return this.#echoes.matches(chat.guid, rowid, text, isSelf) ? (isSelf ? 'own' : 'open') : null;
  }

  /** Own handles as the newest rows of a chat name them: the account they came by and the handle they were sent to. */
  #ownIn(chat: number): ReadonlySet<string> {
    const columns = ['account', 'destination_caller_id'].filter((column) => this.#store.has('message', column));
    const found = columns.flatMap((column) => this.#store.statement(
      `SELECT DISTINCT m.${column} FROM (SELECT message_id FROM chat_message_join WHERE chat_id = ${unpeeked('?')} ORDER BY message_id DESC LIMIT ${OWN_ROWS}) j
       CROSS JOIN message m ON m.ROWID = j.message_id WHERE m.${column} IS NOT NULL`, 'pluck').all(chat) as string[]);
    return new Set(found.map((handle) => this.#normalise(String(handle).replace(/^[a-z]:/i, ''))).filter((handle) => handle !== ''));
  }
}
