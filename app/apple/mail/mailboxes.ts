import type { Mailbox, MailboxRole } from '../occurrence.ts';
import type { Accounts } from './accounts.ts';

/** Names of roles as servers spell them, lower case, NFC (data-formats/envelope-index 5 and Gmail's and Exchange's own translations). */
const NAMES: Partial<Record<MailboxRole, readonly string[]>> = {
  sent: [
    'sent', 'sent messages', 'sent items', 'sent mail', 'sent-mail', 'sent email',
    'gesendet', 'gesendete objekte', 'gesendete elemente', 'gesendete nachrichten', 'gesendete e-mails',
    'envoyés', 'éléments envoyés', 'messages envoyés', 'courrier envoyé', 'objets envoyés',
    'enviados', 'elementos enviados', 'mensajes enviados', 'correo enviado', 'itens enviados', 'mensagens enviadas', 'enviadas', 'e-mails enviados', 'correio enviado',
    'inviati', 'inviata', 'posta inviata', 'elementi inviati', 'messaggi inviati',
    'verzonden', 'verzonden items', 'verzonden berichten', 'verzonden e-mail', 'skickat', 'skickade objekt', 'sendt', 'sendte elementer', 'lähetetyt', 'wysłane', 'elementy wysłane',
    'отправленные', 'odeslané', 'odoslané', 'gönderilmiş öğeler', 'gönderilmiş postalar',
    '送信済み', '送信済みアイテム', '送信済みメール', '送信済みメッセージ', '已发送', '已发送邮件', '已傳送', '寄件備份', '寄件匣備份', '已傳送的郵件', '已发邮件', '已傳送郵件', '보낸편지함', '보낸 편지함', '보낸 메일함',
  ],
  drafts: [
    'drafts', 'draft', 'draft messages', 'entwürfe', 'entwurf', 'brouillons', 'brouillon', 'borradores', 'borrador', 'rascunhos', 'rascunho', 'bozze', 'bozza', 'concepten',
    'utkast', 'kladder', 'luonnokset', 'wersje robocze', 'kopie robocze', 'черновики', 'koncepty', 'taslaklar', '下書き', '草稿', '草稿箱', '草稿匣', '임시보관함', '임시 보관함',
  ],
  junk: [
    'junk', 'junk email', 'junk e-mail', 'junk mail', 'spam', 'bulk mail', 'unerwünscht', 'unerwünschte werbung', 'junk-e-mail', 'spamverdacht',
    'courrier indésirable', 'indésirables', 'pourriel', 'courriers indésirables', 'correo no deseado', 'correo basura', 'no deseado', 'lixo eletrônico', 'lixo electrónico', 'correio não solicitado',
    'posta indesiderata', 'indesiderata', 'ongewenste e-mail', 'ongewenst', 'ongewenste reclame', 'skräppost', 'søppelpost', 'uønsket e-mail', 'roskaposti', 'wiadomości-śmieci', 'спам', 'нежелательная почта',
    'nevyžádaná pošta', 'önemsiz', '迷惑メール', '垃圾邮件', '垃圾郵件', '垃圾箱', '스팸', '스팸함', '정크 메일',
  ],
  trash: [
    'trash', 'deleted messages', 'deleted items', 'deleted', 'bin', 'papierkorb', 'gelöscht', 'gelöschte objekte', 'gelöschte elemente', 'gelöschte nachrichten',
    'corbeille', 'éléments supprimés', 'messages supprimés', 'papelera', 'elementos eliminados', 'mensajes eliminados', 'eliminados', 'lixeira', 'lixo', 'itens excluídos', 'itens eliminados', 'mensagens apagadas',
    'cestino', 'posta eliminata', 'elementi eliminati', 'messaggi eliminati', 'prullenbak', 'prullenmand', 'verwijderde items', 'verwijderde berichten', 'papperskorgen', 'borttaget', 'papirkurv', 'slettede elementer', 'slettet post', 'roskakori', 'poistetut',
    'kosz', 'elementy usunięte', 'корзина', 'удаленные', 'удалённые', 'koš', 'çöp kutusu', 'silinmiş öğeler', 'ゴミ箱', '削除済みアイテム', '削除済みメッセージ', '已删除', '已删除邮件', '已删除的邮件', '刪除的郵件', '已刪除的郵件', '已删除郵件', '废纸篓', '垃圾桶', '휴지통', '지운 편지함',
  ],
  archive: [
    'archive', 'archives', 'archived', 'all mail', 'archiv', 'alle nachrichten', 'tous les messages', 'archivo', 'archivados', 'todos', 'arquivo', 'arquivar', 'todos os e-mails', 'todo o correio', 'com todo o correio',
    'archivio', 'tutti i messaggi', 'archief', 'alle berichten', 'alla mail', 'arkiv', 'arkisto', 'archiwum', 'wszystkie', 'архив', 'вся почта', 'arşiv', 'アーカイブ', 'すべてのメール', '归档', '存档', '封存', '所有邮件', '所有郵件', '전체보관함', '보관함',
  ],
  outbox: ['outbox', 'sendlater', 'send later', 'postausgang', "boîte d'envoi", 'bandeja de salida', 'caixa de saída', 'posta in uscita', 'postvak uit', '送信箱', '发件箱', '寄件匣'],
};

const ROLE_OF_NAME = new Map(Object.entries(NAMES).flatMap(([role, names]) => names.map((name) => [name, role as MailboxRole] as const)));
/** Folders below which a server keeps its own ones. */
const SERVER_PARENTS = new Set(['', 'inbox', '[gmail]', '[google mail]']);

export interface MailboxUrl {
  readonly accountId: string;
  readonly path: string;
}

/** Account and path of a mailbox URL, however far it is escaped. What is no URL is all path. */
export function parseMailboxUrl(url: string): MailboxUrl {
  const parts = /^[a-z][a-z0-9+.-]*:\/\/([^/]*)\/*(.*)$/is.exec(url);
  const path = (parts?.[2] ?? url).split('/').filter((part) => part !== '');
  return { accountId: decode(parts?.[1] ?? ''), path: path.map(decode).join('/').normalize('NFC') };
}

/** Escapes that are no UTF-8, and signs that are no escapes, stay as they are. */
function decode(text: string): string {
  return text.replaceAll(/(?:%[0-9a-f]{2})+/gi, (run) => {
    try {
      return decodeURIComponent(run);
    } catch {
      return run;
    }
  });
}

const fold = (text: string): string => text.normalize('NFC').toLowerCase();

/** Role by name alone; `source` is true for a mailbox that holds the mail of labels (Gmail's All Mail in any language). */
export function roleOfPath(path: string, source = false): MailboxRole {
  const folded = fold(path);
  const cut = folded.lastIndexOf('/');
  const leaf = folded.slice(cut + 1);
  if (leaf === 'inbox') return 'inbox';
  // Deeper folders are the user's own: `Projects/Sent` is no Sent.
  const named = SERVER_PARENTS.has(folded.slice(0, Math.max(cut, 0))) ? ROLE_OF_NAME.get(leaf) : undefined;
  return named ?? (source ? 'archive' : 'other');
}

export interface MailboxLine {
  readonly id: number;
  readonly url: unknown;
  readonly source: number | null;
}

/** The mailboxes of the index with their accounts and roles, as of the last load. */
export class MailboxDirectory {
  readonly #accounts: Accounts;
  #byId = new Map<number, Mailbox>();
  #all: readonly Mailbox[] = [];
  #sources = new Set<number>();

  constructor(accounts: Accounts) {
    this.#accounts = accounts;
  }

  load(lines: readonly MailboxLine[]): void {
    this.#sources = new Set(lines.flatMap((line) => (line.source === null ? [] : [line.source])));
    const parsed = lines.map((line) => ({ ...line, url: String(line.url), ...parseMailboxUrl(String(line.url)) }));
    const byAccount = new Map<string, string[]>();
    for (const box of parsed) byAccount.set(box.accountId, [...(byAccount.get(box.accountId) ?? []), fold(box.path)]);
    const named = new Map([...byAccount].map(([account, paths]) => [account, this.#namedRoles(account, paths)]));
    this.#byId = new Map(
      parsed.map(({ id, url, source, accountId, path }) => {
        const byName = roleOfPath(path, this.#sources.has(id));
        const role = byName === 'inbox' ? 'inbox' : (named.get(accountId)?.get(fold(path)) ?? byName);
        return [id, { id, url, accountId, account: this.#accounts.get(accountId)?.description ?? accountId, path, role, source }];
      }),
    );
    this.#all = [...this.#byId.values()];
  }

  /** Undefined if the mailbox is not known, or had another URL when it was loaded. */
  get(id: number, url?: string): Mailbox | undefined {
    const found = this.#byId.get(id);
    return found !== undefined && (url === undefined || found.url === url) ? found : undefined;
  }

  /** The same array until the next load. */
  all(): readonly Mailbox[] {
    return this.#all;
  }

  /** True for a mailbox whose mail shows under labels (Gmail's All Mail). */
  hasLabels(id: number): boolean {
    return this.#sources.has(id);
  }

  /** Folded path -> role, as the account's properties say. A name without its parent counts if no path equals it. */
  #namedRoles(accountId: string, paths: readonly string[]): Map<string, MailboxRole> {
    const roles = new Map<string, MailboxRole>();
    for (const [role, name] of this.#accounts.get(accountId)?.roles ?? []) {
      const wanted = fold(parseMailboxUrl(name).path);
      const path = paths.includes(wanted) ? wanted : paths.find((candidate) => candidate.endsWith(`/${wanted}`));
      if (path !== undefined) roles.set(path, role);
    }
    return roles;
  }
}
