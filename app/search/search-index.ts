import { statSync } from 'node:fs';
import { Worker } from 'node:worker_threads';
import { activeMailFolder } from '../apple/mail/mail-folder.ts';
import { systemClock, type Clock } from '../events/clock.ts';
import { FinderThread, placesById, type ListedPlace, type Refused } from './finder-thread.ts';
import type { IndexKey } from './index-file.ts';
import type { IndexBound, IndexCounts, IndexOrder, IndexReport, KeeperData } from './index-keeper.ts';
import { MAX_RANKED, type Candidates, type Hit, type Narrowing } from './index-reader.ts';
import { parseQuery, type Query } from './query.ts';
import { MAX_OFFSET, windowOf, type SearchRequest, type Window } from './search-request.ts';
import { needlesOf } from './snippet.ts';
import { noneTaken, SnippetCutter, takeBack, type Cut, type Snippets } from './snippet-cutter.ts';

export interface SearchIndexOptions {
  /** File of the index; its folder exists. */
  readonly path: string;
  /** `~/Library/Mail`, or a version's folder in it. */
  readonly mailDir: string;
  readonly key: IndexKey;
  /** Where the files of the mailboxes lie, for snippets: the same list until it changes. */
  readonly places: () => readonly ListedPlace[];
  /** The version's folder that Mail uses now; left out: found when it is first needed. */
  readonly folder?: () => string;
  /** Called whenever the state changed. */
  readonly onState?: (state: IndexState) => void;
  /** Told why it is made anew, where nobody asked for it. */
  readonly onAnew?: (sentence: string) => void;
  /** The threads' script; of a bundle its own file. */
  readonly worker?: URL;
  readonly clock?: Clock;
}

/** All that is to be known of the index, as one value. */
export interface IndexState {
  readonly phase: 'off' | 'opening' | 'comparing' | 'building' | 'paused' | 'ready' | 'failed';
  /** Unix ms. */
  readonly since: number;
  /** Mails that are to be taken in still, as far as is known. */
  readonly pending: number;
  /** Mails a second since building began, or null. */
  readonly perSecond: number | null;
  /** Bytes of the file. */
  readonly bytes: number;
  readonly counts: IndexCounts;
  /** Why it failed or is made anew, a sentence, or null. */
  readonly trouble: string | null;
}

export interface SearchHit extends Hit {
  /** Its place among all hits, from 0. */
  readonly at: number;
}

export type SearchAnswer =
  | {
      readonly ok: true;
      readonly hits: readonly SearchHit[];
      /**
       * Of each hit, in their order; null where none was asked for, or nothing of the body is on disk. The searching thread cuts
       * them while the caller goes on with the hits; once they are asked for, this one helps, for two seconds at most and until the
       * signal says that nobody waits any more. Asked for once; never rejects.
       */
      readonly snippets: (signal?: AbortSignal) => Promise<Snippets>;
      readonly count: number;
      /** False if there are more than are counted. */
      readonly isExact: boolean;
      /** `newest`: too many to rank, or nothing to rank by. */
      readonly order: 'best' | 'newest';
      /** Offset of the next page, or null. */
      readonly next: number | null;
      /** True while mails are still missing from the index. */
      readonly isPartial: boolean;
      /** What of the query was not read as it was written. */
      readonly notes: readonly string[];
    }
  | { readonly ok: false; readonly reason: string };

type Sifted = Pick<Extract<SearchAnswer, { ok: true }>, 'count' | 'isExact' | 'order' | 'snippets'> & { readonly hits: readonly Hit[]; readonly goesOn: boolean };

const NO_SNIPPETS: Promise<Snippets> = Promise.resolve([]);
const EMPTY: IndexCounts = { mails: 0, textBytes: 0, deadLetters: [], deadMails: [], syncedAt: null };
/** Young objects of the thread: texts die at once. */
const KEEPER_LIMITS = { maxYoungGenerationSizeMb: 8, maxOldGenerationSizeMb: 256 };
/** Hits judged in one turn; those that may be read in all; and all that are walked through. */
const TURN = 250;
/** Snippets of one page are cut for so long here: what is not done then is left out. */
const CUT_MS = 2000;
const MAX_JUDGED = 20_000;
const MAX_WALKED = 200_000;
const WHY_NOT = {
  unreadable: 'The search index cannot be read at the moment.',
  damaged: 'The search index is damaged, so it is made anew. Try again in a few minutes.',
  'too-long': 'query: this search takes too long. Use fewer or rarer words.',
  busy: 'Too many searches wait already. Try again in a moment.',
} as const satisfies Record<Refused, string>;

const ANEW = {
  asked: null, unusable: 'The index could not be used (damaged, or with another key), so it is made anew.', 'other-store': 'Mail has another store, so the index is made anew.',
  codes: 'Whether one-time codes are hidden was changed, so the index is made anew.',
  left: 'Most of what was in the index is not to be in it any more, so it is made anew.',
} as const;

/** The full-text index of mail: kept by a thread of its own, searched by another. This side only tells them what to do. */
export class SearchIndex {
  readonly #options: SearchIndexOptions;
  readonly #clock: Clock;
  readonly #script: URL;
  readonly #finder: FinderThread;
  readonly #cutter: SnippetCutter;
  #places: readonly ListedPlace[] | null = null;
  #folder: string | null = null;
  #keeper: Worker | null = null;
  #phase: IndexState['phase'] = 'off';
  #since = 0;
  #pending = 0;
  #building: { readonly at: number; readonly done: number; now: number; reached: number } | null = null;
  #counts: IndexCounts = EMPTY;
  #trouble: string | null = null;
  /** Why it is made anew, until it is ready. */
  #anew: string | null = null;
  #isPaused = false;
  #hidesCodes = true;
  #bound: IndexBound = { number: 0, mailboxes: null };
  #boundedTo = -1;
  #follow = 0;
  #followed = 0;
  /** Rises with each stop. */
  #run = 0;
  #waiting: (() => void)[] = [];

  constructor(options: SearchIndexOptions) {
    this.#options = options;
    this.#clock = options.clock ?? systemClock;
    this.#script = options.worker ?? new URL('./worker.ts', import.meta.url);
    const { path, key } = options;
    this.#finder = new FinderThread({ role: 'find', path, key }, this.#script, this.#clock);
    this.#cutter = new SnippetCutter();
  }

  /** Starts the thread: it opens the index, makes it where there is none, and makes it like Mail's store. */
  start(): void {
    if (this.#keeper !== null) return;
    const { path, mailDir, key } = this.#options;
    const workerData: KeeperData = { role: 'keep', path, mailDir, key, bound: this.#bound, isPaused: this.#isPaused, hidesCodes: this.#hidesCodes };
    const keeper = new Worker(this.#script, { workerData, resourceLimits: KEEPER_LIMITS });
    this.#keeper = keeper;
    this.#finder.start();
    this.#boundedTo = -1;
    // It begins with a comparison of all.
    this.#followed = this.#follow;
    this.#change('opening');
    keeper.on('message', (report: IndexReport) => this.#hear(report));
    keeper.on('error', () => this.#fail('The index stopped with an error.'));
    keeper.on('exit', () => {
      if (this.#keeper !== keeper) return;
      this.#keeper = null;
      if (this.#phase !== 'failed') this.#fail('The index stopped.');
    });
  }

  async stop(): Promise<void> {
    const keeper = this.#keeper;
    this.#keeper = null;
    const gone = keeper === null ? null : new Promise((done) => keeper.once('exit', done));
    // The one that writes closes last: then the file is whole by itself, and nothing lies beside it.
    this.#run += 1;
    await this.#finder.stop();
    keeper?.postMessage({ kind: 'stop' } satisfies IndexOrder);
    await gone;
    this.#change('off');
  }

  /** Work stops after the batch in hand; searching goes on. */
  pause(isPaused: boolean): void {
    if (this.#isPaused === isPaused) return;
    this.#isPaused = isPaused;
    this.#since = this.#clock.now();
    this.#building = null;
    this.#tell({ kind: isPaused ? 'pause' : 'resume' });
    this.#announce();
  }

  /** Mails that are new, changed or gone. */
  take(mails: readonly number[]): void {
    if (mails.length > 0) this.#tell({ kind: 'take', mails });
  }

  /** @param mailboxes ROWIDs of mailboxes and labels outside which nothing is indexed, also an unknown one; null: none */
  bound(mailboxes: readonly number[] | null): void {
    if (JSON.stringify(mailboxes) === JSON.stringify(this.#bound.mailboxes)) return;
    this.#bound = { number: this.#bound.number + 1, mailboxes };
    this.#tell({ kind: 'bound', bound: this.#bound });
  }

  /** @param hidden one-time codes stand neither in the index nor in what it shows */
  hideCodes(hidden: boolean): void {
    if (hidden === this.#hidesCodes) return;
    this.#hidesCodes = hidden;
    if (this.#keeper !== null) this.#change('opening');
    this.#tell({ kind: 'codes', hidden });
  }

  /** Whether nothing outside the bound is in the index any more. */
  get isBounded(): boolean {
    return this.#boundedTo === this.#bound.number || (this.#bound.number === 0 && this.#bound.mailboxes === null);
  }

  /** Mail's store changed: the index follows it soon, and not too often. */
  follow(): void {
    this.#follow += 1;
    this.#tell({ kind: 'follow', number: this.#follow });
  }

  /** Whether the index has followed what it was told of. */
  get isFollowed(): boolean {
    return this.#followed === this.#follow;
  }

  /** Compares with Mail's store once more. */
  sync(): void {
    this.#tell({ kind: 'sync' });
  }

  /** Throws the index away and makes it anew. */
  rebuild(): void {
    this.#change('opening');
    this.#tell({ kind: 'rebuild' });
    this.start();
  }

  /** Resolves once the index is ready, failed or off. */
  async settled(): Promise<void> {
    while (this.#phase !== 'ready' && this.#phase !== 'failed' && this.#phase !== 'off') await new Promise<void>((done) => this.#waiting.push(done));
  }

  state(): IndexState {
    const isHeld = this.#isPaused && (this.#phase === 'comparing' || this.#phase === 'building');
    const built = this.#building;
    const { path } = this.#options;
    const seconds = built === null ? 0 : (built.now - built.at) / 1000;
    return {
      phase: isHeld ? 'paused' : this.#phase, since: this.#since, pending: this.#pending,
      perSecond: built === null || seconds <= 0 || isHeld ? null : (built.reached - built.done) / seconds,
      // Looked up only where it is shown.
      get bytes() { return sizeOf(path); },
      counts: this.#counts, trouble: this.#trouble ?? this.#anew,
    };
  }

  /** Never throws for what was asked: a refusal is a sentence that names the field. */
  async search(request: SearchRequest): Promise<SearchAnswer> {
    const window = windowOf(request);
    if (typeof window === 'string') return { ok: false, reason: window };
    const parsed = parseQuery(request.query);
    if (!parsed.ok) return parsed;
    if (this.#phase === 'off' || this.#phase === 'opening') return { ok: false, reason: this.#trouble ?? 'The search index is not ready yet.' };
    const run = this.#run;
    const result = await this.#find(parsed.query, request, window);
    // Stopped meanwhile.
    const found = run === this.#run ? result : 'unreadable';
    if (typeof found === 'string') {
      // One that is made anew is read while it goes.
      if (found === 'damaged' && (this.#phase as IndexState['phase']) !== 'opening') this.rebuild();
      return { ok: false, reason: WHY_NOT[found] };
    }
    const allowed = request.check?.(found.hits);
    const { offset, limit } = window;
    // What may not be shown goes no further than here.
    const placed = found.hits.map((hit, nth) => ({ ...hit, at: offset + nth }));
    const hits = allowed === undefined ? placed : placed.filter(({ mail }) => allowed.has(mail));
    const snippets = async (signal?: AbortSignal): Promise<Snippets> => {
      const all = await found.snippets(signal);
      return hits.map(({ at }) => all[at - offset] ?? null);
    };
    const count = Math.max(hits.length, found.count - (found.hits.length - hits.length));
    const goesOn = found.goesOn && offset + limit <= MAX_OFFSET;
    return {
      ok: true, hits, snippets, count, isExact: found.isExact, order: found.order, next: goesOn ? offset + limit : null,
      isPartial: this.#phase !== 'ready', notes: parsed.notes,
    };
  }

  async #find(query: Query, request: SearchRequest, { offset, limit }: Window): Promise<Sifted | Refused> {
    const { scope = 'all' } = request;
    const narrowing: Narrowing = {
      column: scope === 'all' ? null : scope, mailboxes: request.mailboxes ?? null, exceptMailboxes: request.exceptMailboxes ?? [], after: request.after ?? null,
      before: request.before ?? null, senders: request.senders ?? null,
    };
    const cut = request.snippets === false ? null : { needles: needlesOf(query), hidesCodes: this.#hidesCodes };
    if (request.judge === undefined) {
      const answer = this.#finder.ask({ kind: 'find', query, narrowing, offset, limit });
      const cutting = cut === null ? null : this.#cutting('found', cut, limit);
      const found = await answer;
      return typeof found === 'string' ? found : { ...found, snippets: (signal) => cutting?.(found.hits, signal) ?? NO_SNIPPETS, goesOn: found.hits.length === limit && (!found.isExact || offset + limit < found.count) };
    }
    const sifted = await this.#sift(query, narrowing, request.judge, { offset, limit });
    if (typeof sifted === 'string' || cut === null || sifted.hits.length === 0) return sifted;
    const cutting = this.#cutting(sifted.hits, cut, sifted.hits.length);
    return { ...sifted, snippets: (signal) => cutting(sifted.hits, signal) };
  }

  /** Both threads cut until they meet. @param size of the page at most @returns with what the hits are known to be by then */
  #cutting(of: readonly Hit[] | 'found', cut: Cut, size: number): (hits: readonly Hit[], signal?: AbortSignal) => Promise<Snippets> {
    this.#tellPlaces();
    const taken = noneTaken(size);
    const run = this.#run;
    const theirs = this.#finder.ask({ kind: 'snippets', hits: of, cut, taken });
    return async (hits, signal) => {
      const until = this.#clock.now() + CUT_MS;
      const mayGoOn = (): boolean => run === this.#run && this.#clock.now() < until && signal?.aborted !== true;
      const mine = await this.#cutter.cut(hits, cut, taken, 'back', mayGoOn);
      let others = await theirs;
      if (typeof others === 'string') {
        takeBack(taken, 'front');
        others = await this.#cutter.cut(hits, cut, taken, 'back', mayGoOn);
      }
      // Hidden meanwhile: what was cut before may show a code.
      if (cut.hidesCodes !== this.#hidesCodes) return hits.map(() => null);
      return mine.map((snippet, nth) => snippet ?? others[nth] ?? null);
    };
  }

  #tellPlaces(): void {
    const places = this.#options.places();
    const folder = this.#options.folder?.() ?? this.#folder ?? activeMailFolder(this.#options.mailDir);
    if (places === this.#places && folder === this.#folder) return;
    this.#places = places;
    this.#folder = folder;
    const byId = placesById(places);
    this.#cutter.places(byId, folder);
    this.#finder.places(byId, folder);
  }

  /**
   * The hits that are wanted. Where it stops depends on those that may be read alone, and so do count and order. Each turn of the
   * loop is short: other work of this thread comes between.
   */
  async #sift(query: Query, narrowing: Narrowing, judge: NonNullable<SearchRequest['judge']>, { offset, limit }: Window): Promise<Sifted | Refused> {
    const kept: Hit[] = [];
    const enough = Math.max(MAX_RANKED, offset + limit);
    const isDone = (): boolean => kept.length > enough || readable > MAX_JUDGED;
    let [readable, walked] = [0, 0];
    let from: number | null = null;
    do {
      const found: Candidates | Refused = await this.#finder.ask({ kind: 'candidates', query, narrowing, from });
      if (typeof found === 'string') return found;
      for (let at = 0; at < found.hits.length && !isDone(); at += TURN) {
        if (at > 0) await new Promise<void>((done) => void this.#clock.after(0, done));
        const turn = found.hits.slice(at, at + TURN);
        const judged = judge(turn);
        for (const hit of turn) {
          if (isDone()) break;
          if (judged.readable.has(hit.mail)) readable += 1;
          if (judged.wanted.has(hit.mail) && readable <= MAX_JUDGED) kept.push(hit);
        }
      }
      walked += found.hits.length;
      from = found.next;
      if (from !== null && walked > MAX_WALKED) return 'too-long';
    } while (from !== null && !isDone());
    const isRanked = !isDone() && kept.length <= MAX_RANKED;
    const ordered = isRanked ? kept.toSorted((a, b) => b.score! - a.score!) : kept;
    const hits = ordered.slice(offset, offset + limit).map((hit) => ({ ...hit, score: null }));
    return { hits, count: Math.min(kept.length, MAX_RANKED), isExact: isRanked, order: isRanked ? 'best' : 'newest', goesOn: kept.length > offset + limit, snippets: () => NO_SNIPPETS };
  }

  #hear(report: IndexReport): void {
    switch (report.kind) {
      case 'progress': {
        const { phase, done, total, counts } = report;
        this.#counts = counts;
        this.#pending = total - done;
        this.#trouble = null;
        if (phase === 'ready') this.#anew = null;
        const now = this.#clock.now();
        if (phase !== 'building') this.#building = null;
        else if (this.#building === null) this.#building = { at: now, done, now, reached: done };
        else [this.#building.now, this.#building.reached] = [now, done];
        return this.#change(phase);
      }
      case 'taken':
        this.#counts = report.counts;
        return this.#announce();
      case 'followed':
        this.#followed = report.number;
        this.#counts = report.counts;
        return this.#announce();
      case 'bounded':
        this.#boundedTo = report.number;
        return this.#announce();
      case 'renewed':
        // The file that is open is no longer the one at its path.
        this.#finder.reopen();
        this.#counts = EMPTY;
        this.#anew = ANEW[report.why];
        if (this.#anew !== null) this.#options.onAnew?.(this.#anew);
        return this.#announce();
      case 'failed':
        return this.#fail(report.reason);
    }
  }

  #fail(reason: string): void {
    this.#trouble = reason;
    this.#change('failed');
  }

  #change(phase: IndexState['phase']): void {
    if (phase !== this.#phase) this.#since = this.#clock.now();
    this.#phase = phase;
    if (phase !== 'building') this.#building = null;
    this.#announce();
  }

  #announce(): void {
    for (const done of this.#waiting.splice(0)) done();
    this.#options.onState?.(this.state());
  }

  #tell(order: IndexOrder): void {
    this.#keeper?.postMessage(order);
  }
}

function sizeOf(path: string): number {
  return ['', '-wal'].reduce((sum, suffix) => sum + (statSync(path + suffix, { throwIfNoEntry: false })?.size ?? 0), 0);
}
