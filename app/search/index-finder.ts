import type { MessagePort } from 'node:worker_threads';
import type { MailboxPlace } from '../apple/mail/mail-files.ts';
import { isDamage, loadLibrary, openForReading, type IndexKey } from './index-file.ts';
import { IndexReader, type Candidates, type Found, type Hit, type Narrowing } from './index-reader.ts';
import type { Query } from './query.ts';
import { SnippetCutter, type Cut, type Snippets, type Taken } from './snippet-cutter.ts';

/** The thread that searches: however long a question takes, nothing else waits for it. */
export interface FinderData {
  readonly role: 'find';
  readonly path: string;
  readonly key: IndexKey;
}

export type Question =
  | { readonly kind: 'find'; readonly query: Query; readonly narrowing: Narrowing; readonly offset: number; readonly limit: number }
  | { readonly kind: 'candidates'; readonly query: Query; readonly narrowing: Narrowing; readonly from: number | null }
  /** `found`: of what the question before it found, so that nobody is waited for in between. Those that are not taken yet, from the front. */
  | { readonly kind: 'snippets'; readonly hits: readonly Hit[] | 'found'; readonly cut: Cut; readonly taken: Taken };

export type ReplyTo<Q extends Question> = Q extends { kind: 'find' } ? Found : Q extends { kind: 'candidates' } ? Candidates : Snippets;

export type FinderOrder =
  | { readonly kind: 'ask'; readonly id: number; readonly question: Question }
  /** Where the files of mailboxes lie. */
  | { readonly kind: 'places'; readonly places: ReadonlyMap<number, MailboxPlace>; readonly folder: string }
  | { readonly kind: 'reopen' | 'stop' };
/** `ready`: it has loaded all that it needs. */
export type FinderReport = 'ready' | { readonly id: number; readonly reply: ReplyTo<Question> | null; /** The file is damaged. */ readonly isDamaged?: boolean };

export function answerSearches(port: MessagePort, { path, key }: FinderData): void {
  let reader: IndexReader | null = null;
  const cutter = new SnippetCutter();
  let found: readonly Hit[] = [];
  const close = (): void => {
    reader?.close();
    reader = null;
  };
  const answer = async (question: Question): Promise<ReplyTo<Question>> => {
    if (question.kind === 'snippets') return cutter.cut(question.hits === 'found' ? found : question.hits, question.cut, question.taken, 'front');
    found = [];
    reader ??= new IndexReader(openForReading(path, key));
    const { query, narrowing } = question;
    if (question.kind === 'candidates') return reader.candidates(query, narrowing, question.from);
    const answered = reader.find(query, narrowing, question.offset, question.limit);
    found = answered.hits;
    return answered;
  };
  const report = (what: FinderReport): void => port.postMessage(what);
  let isStopped = false;
  // One after the other: time runs for the first of them.
  let last: Promise<void> = Promise.resolve();
  const asked = async (id: number, question: Question): Promise<void> => {
    if (isStopped) return;
    try {
      report({ id, reply: await answer(question) });
    } catch (error) {
      // Locked, damaged, or removed meanwhile: opened anew the next time.
      close();
      report({ id, reply: null, isDamaged: isDamage(error) });
    }
  };
  port.on('message', (order: FinderOrder) => {
    if (order.kind === 'ask') {
      last = last.then(() => asked(order.id, order.question));
      return;
    }
    if (order.kind === 'places') {
      cutter.places(order.places, order.folder);
      return;
    }
    close();
    if (order.kind !== 'stop') return;
    isStopped = true;
    cutter.stop();
    port.close();
  });
  loadLibrary();
  report('ready');
}
