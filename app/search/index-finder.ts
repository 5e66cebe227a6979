import type { MessagePort } from 'node:worker_threads';
import { MailFiles, type MailboxPlace } from '../apple/mail/mail-files.ts';
import { activeMailFolder } from '../apple/mail/mail-folder.ts';
import { readText } from '../apple/mail/mail-texts.ts';
import { isDamage, openForReading, type IndexKey } from './index-file.ts';
import { IndexReader, type Candidates, type Found, type Hit, type Narrowing } from './index-reader.ts';
import type { Query } from './query.ts';
import { cutSnippet, type Snippet } from './snippet.ts';

/** The thread that searches: however long a question takes, nothing else waits for it. */
export interface FinderData {
  readonly role: 'find';
  readonly path: string;
  readonly mailDir: string;
  readonly key: IndexKey;
}

export type Question =
  | { readonly kind: 'find'; readonly query: Query; readonly narrowing: Narrowing; readonly offset: number; readonly limit: number; /** What snippets are cut around; null: none are. */ readonly needles: readonly string[] | null; readonly hidesCodes: boolean }
  | { readonly kind: 'candidates'; readonly query: Query; readonly narrowing: Narrowing; readonly from: number | null }
  | { readonly kind: 'snippets'; readonly needles: readonly string[]; readonly hits: readonly Hit[]; readonly hidesCodes: boolean };

/** Null where nothing of the text is on disk. */
export type Snippets = readonly (Snippet | null)[];

export type ReplyTo<Q extends Question> = Q extends { kind: 'find' } ? Found & { readonly snippets: Snippets | null } : Q extends { kind: 'candidates' } ? Candidates : Snippets;

export type FinderOrder =
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  /** Where the files of mailboxes lie. */
  | { readonly kind: 'places'; readonly places: ReadonlyMap<number, MailboxPlace> }
  | { readonly kind: 'reopen' | 'stop' };
export type FinderReport = { readonly id: number; readonly reply: ReplyTo<Question> | null; /** The file is damaged. */ readonly isDamaged?: boolean };

export function answerSearches(port: MessagePort, { path, mailDir, key }: FinderData): void {
  let reader: IndexReader | null = null;
  let files = new MailFiles(activeMailFolder(mailDir));
  const close = (): void => {
    reader?.close();
    reader = null;
  };
  let places: ReadonlyMap<number, MailboxPlace> = new Map();
  const snippetsOf = async (hits: readonly Hit[], needles: readonly string[], hidesCodes: boolean): Promise<Snippets> => {
    const snippets: (Snippet | null)[] = [];
    for (const { mail, mailbox } of hits) {
      const place = places.get(mailbox);
      snippets.push(place === undefined ? null : await snippetOf(files, place, mail, needles, hidesCodes));
    }
    return snippets;
  };
  const answer = async (question: Question): Promise<ReplyTo<Question>> => {
    if (question.kind === 'snippets') return snippetsOf(question.hits, question.needles, question.hidesCodes);
    reader ??= new IndexReader(openForReading(path, key));
    const { query, narrowing } = question;
    if (question.kind === 'candidates') return reader.candidates(query, narrowing, question.from);
    const found = reader.find(query, narrowing, question.offset, question.limit);
    // In the same turn: to wake a thread twice takes as long as the search itself.
    return { ...found, snippets: question.needles === null ? null : await snippetsOf(found.hits, question.needles, question.hidesCodes) };
  };
  port.on('message', (order: FinderOrder) => {
    if (order.kind === 'ask') {
      answer(order.question).then(
        (reply) => port.postMessage({ id: order.id, reply } satisfies FinderReport),
        (error: unknown) => {
          // Locked, damaged, or removed meanwhile: opened anew the next time.
          close();
          port.postMessage({ id: order.id, reply: null, isDamaged: isDamage(error) } satisfies FinderReport);
        },
      );
      return;
    }
    if (order.kind === 'places') {
      ({ places } = order);
      return;
    }
    close();
    files = new MailFiles(activeMailFolder(mailDir));
    if (order.kind === 'stop') port.close();
  });
}

/** Bytes of a file that a stretch is looked for in: what lies beyond is attachments, or nobody's first reading. */
const MAX_READ = 512 * 1024;

/** Null where nothing of the body is on disk, or its file may not be read: the hit stands. */
async function snippetOf(files: MailFiles, place: MailboxPlace, mail: number, needles: readonly string[], hidesCodes: boolean): Promise<Snippet | null> {
  try {
    const found = await readText(files, place, mail, MAX_READ);
    return found === null || found.text === '' ? null : cutSnippet(found.text, needles, hidesCodes ? found.subject : null);
  } catch {
    return null;
  }
}
