import { Worker } from 'node:worker_threads';
import type { MailboxPlace } from '../apple/mail/mail-files.ts';
import type { Clock } from '../events/clock.ts';
import type { FinderData, FinderOrder, FinderReport, Question, ReplyTo } from './index-finder.ts';

/** A question that takes longer is given up, with the thread that works on it. */
export const SEARCH_MS = 5000;
/** A thread that is not ready after this long keeps nobody waiting: those who ask are refused, and it goes on starting. */
export const START_MS = 30_000;
/** Searches that wait at once. */
const MAX_WAITING = 50;

/** Why there is no answer. */
export type Refused = 'unreadable' | 'damaged' | 'too-long' | 'busy';
export type Reply<Q extends Question> = ReplyTo<Q> | Refused;

export type ListedPlace = MailboxPlace & { readonly id: number };

interface Waiting {
  readonly question: Question;
  settle(reply: Reply<Question>): void;
}

/** The engine's side of the searching thread. Started with the first question. */
export class FinderThread {
  readonly #data: FinderData;
  readonly #script: URL;
  readonly #clock: Clock;
  #worker: Worker | null = null;
  /** Those that were given up and still work: a native call cannot be interrupted. */
  #given: Promise<unknown> | null = null;
  /** The thread has loaded all that it needs. To end one that loads a native library ends the whole process. */
  #isReady = false;
  #isStopped = false;
  #next = 1;
  #places: FinderOrder | null = null;
  /** In the order in which they are answered: the first of them is worked on. */
  readonly #waiting = new Map<number, Waiting>();
  #cancelLimit: () => void = () => undefined;

  constructor(data: FinderData, script: URL, clock: Clock) {
    this.#data = data;
    this.#script = script;
    this.#clock = clock;
  }

  ask<Q extends Question>(question: Q): Promise<Reply<Q>> {
    if (this.#isStopped) return Promise.resolve('unreadable');
    // Snippets belong to a search that was let in.
    const searches = question.kind === 'snippets' ? 0 : [...this.#waiting.values()].filter((each) => each.question.kind !== 'snippets').length;
    if (searches >= MAX_WAITING || (this.#worker === null && this.#given !== null)) return Promise.resolve('busy');
    const id = (this.#next += 1);
    return new Promise((resolve) => {
      this.#waiting.set(id, { question, settle: (reply) => resolve(reply as Reply<Q>) });
      this.#worker ??= this.#start();
      this.#tell({ kind: 'ask', id, question });
      if (this.#waiting.size === 1) this.#limit();
    });
  }

  /** Where the files of mailboxes lie, for snippets. @param folder of Mail's version */
  places(places: ReadonlyMap<number, MailboxPlace>, folder: string): void {
    this.#places = { kind: 'places', places, folder };
    this.#tell(this.#places);
  }

  /** The file at the index's path is another one by now. */
  reopen(): void {
    this.#tell({ kind: 'reopen' });
  }

  /** Questions are taken again. */
  start(): void {
    this.#isStopped = false;
  }

  /** Until it is started again, nothing is asked. */
  async stop(): Promise<void> {
    this.#isStopped = true;
    const worker = this.#worker;
    this.#worker = null;
    this.#settleAll('unreadable');
    if (worker === null) return;
    const gone = new Promise((done) => worker.once('exit', done));
    worker.postMessage({ kind: 'stop' } satisfies FinderOrder);
    await gone;
  }

  #start(): Worker {
    const worker = new Worker(this.#script, { workerData: this.#data, resourceLimits: { maxYoungGenerationSizeMb: 4, maxOldGenerationSizeMb: 128 } });
    this.#isReady = false;
    worker.on('message', (report: FinderReport) => {
      if (this.#worker !== worker) return;
      if (report === 'ready') {
        this.#isReady = true;
        // A thread that is slow to start does not spend the time of its first question.
        this.#limit();
      } else this.#settle(report.id, report.reply ?? (report.isDamaged === true ? 'damaged' : 'unreadable'));
    });
    if (this.#places !== null) worker.postMessage(this.#places);
    // What ends it is told to those who wait; the next question starts another one.
    const ended = (): void => {
      if (this.#worker !== worker) return;
      this.#worker = null;
      this.#settleAll('unreadable');
    };
    worker.on('error', ended);
    worker.on('exit', ended);
    return worker;
  }

  /** Time runs for the question that is worked on. */
  #limit(): void {
    this.#cancelLimit();
    if (this.#waiting.size === 0) this.#cancelLimit = () => undefined;
    else if (this.#isReady) this.#cancelLimit = this.#clock.after(SEARCH_MS, () => this.#giveUp());
    else this.#cancelLimit = this.#clock.after(START_MS, () => this.#settleAll('busy'));
  }

  /** Those behind it are asked again in another thread; two at once are not left to run on. */
  #giveUp(): void {
    const [[id] = [0]] = this.#waiting;
    const worker = this.#worker;
    this.#worker = null;
    const isSecond = this.#given !== null;
    const given = Promise.allSettled([this.#given, worker?.terminate()]).finally(() => {
      if (this.#given === given) this.#given = null;
    });
    this.#given = given;
    this.#settle(id, 'too-long');
    if (isSecond) return this.#settleAll('busy');
    if (this.#waiting.size === 0) return;
    this.#worker = this.#start();
    for (const [each, { question }] of this.#waiting) this.#tell({ kind: 'ask', id: each, question });
  }

  #settle(id: number, reply: Reply<Question>): void {
    const waiting = this.#waiting.get(id);
    if (waiting === undefined) return;
    this.#waiting.delete(id);
    this.#limit();
    waiting.settle(reply);
  }

  #settleAll(reply: 'unreadable' | 'busy'): void {
    for (const id of [...this.#waiting.keys()]) this.#settle(id, reply);
  }

  #tell(order: FinderOrder): void {
    this.#worker?.postMessage(order);
  }
}

export const placesById = (places: readonly ListedPlace[]): ReadonlyMap<number, MailboxPlace> => new Map(places.map(({ id, accountId, path }) => [id, { accountId, path }]));
