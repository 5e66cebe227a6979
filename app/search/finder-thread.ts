import { Worker } from 'node:worker_threads';
import type { MailboxPlace } from '../apple/mail/mail-files.ts';
import type { Clock } from '../events/clock.ts';
import type { FinderData, FinderOrder, FinderReport, Question, ReplyTo } from './index-finder.ts';

/** A question that takes longer is given up, with the thread that works on it. */
export const SEARCH_MS = 5000;
/** Questions that wait at once. */
const MAX_WAITING = 50;

export type Reply<Q extends Question> = ReplyTo<Q> | 'unreadable' | 'damaged' | 'too-long' | 'busy';

interface Waiting {
  settle(reply: Exclude<Reply<Question>, 'busy'>): void;
}

export type ListedPlace = MailboxPlace & { readonly id: number };

/** The engine's side of the searching thread. Started with the first question. */
export class FinderThread {
  readonly #data: FinderData;
  readonly #script: URL;
  readonly #clock: Clock;
  #worker: Worker | null = null;
  /** One that was given up and still works: a native call cannot be interrupted. */
  #given: Promise<unknown> | null = null;
  #next = 1;
  #places: readonly ListedPlace[] | null = null;
  readonly #waiting = new Map<number, Waiting>();

  constructor(data: FinderData, script: URL, clock: Clock) {
    this.#data = data;
    this.#script = script;
    this.#clock = clock;
  }

  ask<Q extends Question>(question: Q): Promise<Reply<Q>> {
    if (this.#given !== null || this.#waiting.size >= MAX_WAITING) return Promise.resolve('busy');
    this.#worker ??= this.#start();
    const id = (this.#next += 1);
    return new Promise((resolve) => {
      const cancel = this.#clock.after(SEARCH_MS, () => this.#giveUp());
      this.#waiting.set(id, {
        settle: (reply) => {
          cancel();
          this.#waiting.delete(id);
          resolve(reply as Reply<Q>);
        },
      });
      this.#tell({ kind: 'ask', id, question });
    });
  }

  /** Where the files of mailboxes lie, for snippets; told once as long as it is the same list. */
  places(places: readonly ListedPlace[]): void {
    if (places === this.#places) return;
    this.#places = places;
    this.#tell(placesOrder(places));
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
    worker.on('message', ({ id, reply, isDamaged }: FinderReport) => this.#waiting.get(id)?.settle(reply ?? (isDamaged === true ? 'damaged' : 'unreadable')));
    if (this.#places !== null) worker.postMessage(placesOrder(this.#places));
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

  #giveUp(): void {
    const worker = this.#worker;
    this.#worker = null;
    this.#settleAll('too-long');
    this.#given = worker?.terminate().finally(() => { this.#given = null; }) ?? null;
  }

  #settleAll(reply: 'unreadable' | 'too-long'): void {
    for (const { settle } of this.#waiting.values()) settle(reply);
  }

  #tell(order: FinderOrder): void {
    this.#worker?.postMessage(order);
  }
}

const placesOrder = (places: readonly ListedPlace[]): FinderOrder => ({ kind: 'places', places: new Map(places.map(({ id, accountId, path }) => [id, { accountId, path }])) });
