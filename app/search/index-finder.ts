import type { MessagePort } from 'node:worker_threads';
import { MailFiles, type MailboxPlace } from '../apple/mail/mail-files.ts';
import { activeMailFolder } from '../apple/mail/mail-folder.ts';
import { readText } from '../apple/mail/mail-texts.ts';
import { isDamage, openForReading, type IndexKey } from './index-file.ts';
import { IndexReader, type Candidates, type Found, type Narrowing } from './index-reader.ts';
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
  | { readonly kind: 'find'; readonly query: Query; readonly narrowing: Narrowing; readonly offset: number; readonly limit: number }
  | { readonly kind: 'candidates'; readonly query: Query; readonly narrowing: Narrowing; readonly from: number | null }
  | { readonly kind: 'snippets'; readonly needles: readonly string[]; readonly mails: readonly (MailboxPlace & { readonly mail: number })[] };

export type ReplyTo<Q extends Question> = Q extends { kind: 'find' } ? Found : Q extends { kind: 'candidates' } ? Candidates : readonly (Snippet | null)[];

export type FinderOrder = { readonly kind: 'ask'; readonly id: number; readonly question: Question } | { readonly kind: 'reopen' | 'stop' };
export type FinderReport = { readonly id: number; readonly reply: ReplyTo<Question> | null; /** The file is damaged. */ readonly isDamaged?: boolean };

export function answerSearches(port: MessagePort, { path, mailDir, key }: FinderData): void {
  let reader: IndexReader | null = null;
  let files = new MailFiles(activeMailFolder(mailDir));
  const close = (): void => {
    reader?.close();
    reader = null;
  };
  const answer = async (question: Question): Promise<ReplyTo<Question>> => {
    if (question.kind === 'snippets') {
      const snippets: (Snippet | null)[] = [];
      for (const { mail, ...place } of question.mails) snippets.push(await snippetOf(files, place, mail, question.needles));
      return snippets;
    }
    reader ??= new IndexReader(openForReading(path, key));
    const { query, narrowing } = question;
    return question.kind === 'find' ? reader.find(query, narrowing, question.offset, question.limit) : reader.candidates(query, narrowing, question.from);
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
    close();
    files = new MailFiles(activeMailFolder(mailDir));
    if (order.kind === 'stop') port.close();
  });
}

/** Null where nothing of the body is on disk, or its file may not be read: the hit stands. */
async function snippetOf(files: MailFiles, place: MailboxPlace, mail: number, needles: readonly string[]): Promise<Snippet | null> {
  try {
    const found = await readText(files, place, mail);
    return found === null || found.text === '' ? null : cutSnippet(found.text, needles);
  } catch {
    return null;
  }
}
