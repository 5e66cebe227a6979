import { Worker } from 'node:worker_threads';
import type { MailboxPlace } from '../apple/mail/mail-files.ts';
import type { Clock } from '../events/clock.ts';
import type { FinderData, FinderOrder, FinderReport, Question, ReplyTo } from './index-finder.ts';

/** A question that takes longer is given up, with the thread that works on it. */
export const SEARCH_MS = 5000;
/** Questions that wait at once. */
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
  #next = 1;
  #places: ReadonlyMap<number, MailboxPlace> | null = null;
  /** In the order in which they are answered: the first of them is worked on. */
  readonly #waiting = new Map<number, Waiting>();
  #cancelLimit: () => void = () => undefined;

  constructor(data: FinderData, script: URL, clock: Clock) {
    this.#data = data;
    this.#script = script;
    this.#clock = clock;
  }

  ask<Q extends Question>(question: Q): Promise<Reply<Q>> {
    if (this.#waiting.size >= MAX_WAITING || (this.#worker === null && this.#given !== null)) return Promise.resolve('busy');
    const id = (this.#next += 1);
    return new Promise((resolve) => {
      this.#waiting.set(id, { question, settle: (reply) => resolve(reply as Reply<Q>) });
      this.#worker ??= this.#start();
      this.#tell({ kind: 'ask', id, question });
      if (this.#waiting.size === 1) this.#limit();
    });
  }

  /** Where the files of mailboxes lie, for snippets. */
  places(places: ReadonlyMap<number, MailboxPlace>): void {
    this.#places = places;
    this.#tell({ kind: 'places', places });
  }

  /** The file at the index's path is another one by now. */
  reopen(): void {
    this.#tell({ kind: 'reopen' });
  }

  async stop(): Promise<void> {
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
    worker.on('message', ({ id, reply, isDamaged }: FinderReport) => {
      if (this.#worker === worker) this.#settle(id, reply ?? (isDamaged === true ? 'damaged' : 'unreadable'));
    });
    if (this.#places !== null) worker.postMessage({ kind: 'places', places: this.#places } satisfies FinderOrder);
    // A thread that is slow to start does not spend the time of its first question.
    worker.once('online', () => {
      if (this.#worker === worker) this.#limit();
    });
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
    this.#cancelLimit = this.#waiting.size === 0 ? () => undefined : this.#clock.after(SEARCH_MS, () => this.#giveUp());
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
