import { randomBytes } from 'node:crypto';
import type { Clock } from '../events/clock.ts';
import type { OutgoingJournal } from './outgoing-journal.ts';
import type { Standing, Writing, WritingRequest, WritingState, Written } from './writing.ts';

export interface WritingPolicy {
  /** Whether a client may write this at this moment: asked when settings change, and again right before it is written. */
  standing(client: string, writing: Writing): Standing;
  /** Whether this goes out without being shown, by what holds at this moment. */
  isUnasked(client: string, writing: Writing): boolean;
}

/** What became of a request, for Activity and for those who look on. `dropped`: settings no longer take it in. */
export type WritingWord = 'asked' | 'dropped' | Exclude<WritingState, 'waiting' | 'running'>;

export interface OutgoingOptions {
  readonly journal: OutgoingJournal;
  readonly policy: WritingPolicy;
  readonly clock: Clock;
  /** Writes it: called once for a request, after it was noted that it begins. */
  readonly write: (writing: Writing, client: string) => Promise<Written>;
  readonly told: (request: WritingRequest, word: WritingWord) => void;
}

/** How long the owner has to answer. */
export const EXPIRES_MS = 600_000;
/** Requests that wait: of one client, and in all. */
export const MAX_OF_CLIENT = 3;
export const MAX_WAITING_WRITINGS = 10;
/** Requests of one client in a rolling hour. */
export const MAX_PER_HOUR = 20;
const HOUR_MS = 3_600_000;
/** Settled requests that are remembered. */
const MAX_KEPT = 200;
/** Rests of these are answered to a repeated request; of the others it is asked for again, as of what was dropped. */
const STICKY: ReadonlySet<WritingState> = new Set(['waiting', 'running', 'done', 'declined', 'unknown']);
const DROPPED = 'By the settings as they are now this client may not write this. Nothing was written.';
const UNREADABLE = 'The store cannot be read at the moment. Nothing was written.';
const INTERRUPTED = 'Belfry ended while this was being written, so it may have gone out or not. Look there before you write it again with another key.';

const isDropped = ({ sentence }: WritingRequest): boolean => sentence === DROPPED;

interface Kept {
  readonly request: { -readonly [key in keyof WritingRequest]: WritingRequest[key] };
  readonly mark: string;
  readonly content: string;
  readonly cancel: () => void;
}

export type Answered = { readonly ok: true; readonly sentence: string } | { readonly ok: false; readonly message: string };

/**
 * What clients would like to write. Each waits for the owner, unless the client may write it unasked; each is written at
 * most once, also over a kill; texts are kept in memory and go once it is settled.
 */
export class Outgoing {
  readonly #options: OutgoingOptions;
  /** By request id, oldest first. */
  readonly #kept = new Map<string, Kept>();
  /** Client -> monotonic times of its requests. */
  readonly #asked = new Map<string, number[]>();
  readonly #settled = new Set<(id: string) => void>();
  #closed = false;

  constructor(options: OutgoingOptions) {
    this.#options = options;
  }

  /** What waits for the owner, oldest first. */
  get waiting(): readonly WritingRequest[] {
    return [...this.#kept.values()].flatMap(({ request }) => (request.state === 'waiting' ? [request] : []));
  }

  /**
   * The request of a client, or the one that it made before: under the same key, or without a key with the same content.
   * `refused`: a sentence, and nothing was taken.
   */
  ask(client: string, writing: Writing, key: string | null): WritingRequest | { readonly refused: string } {
    const { journal, policy, clock } = this.#options;
    const content = journal.hash(JSON.stringify({ ...writing, event: undefined, goesTo: undefined }));
    const mark = journal.hash(client, key === null ? 'content' : 'key', key ?? content);
    const known = this.#known(mark);
    if (known !== null) {
      return known.content === content ? known.request : { refused: 'key: another text was written with this key. Take a new key for a new text.' };
    }
    // In one breath with the sending: no rule can change between the two.
    const isUnasked = policy.isUnasked(client, writing);
    const full = this.#refusal(client, isUnasked);
    if (full !== null) return { refused: full };
    const now = clock.now();
    const id = `${writing.kind}-${randomBytes(6).toString('hex')}`;
    const kept: Kept = {
      request: { id, client, kind: writing.kind, since: now, expiresAt: now + EXPIRES_MS, state: 'waiting', sentence: null, writing },
      mark, content, cancel: clock.after(EXPIRES_MS, () => this.#settle(kept, 'expired', null)),
    };
    this.#kept.set(id, kept);
    this.#makeRoom();
    if (isUnasked) void this.#write(kept);
    else this.#options.told(kept.request, 'asked');
    return kept.request;
  }

  /** A request of this client, or null. */
  find(id: string, client: string): WritingRequest | null {
    const kept = this.#kept.get(id)?.request ?? this.#fromJournal(id);
    return kept !== null && kept.client === client ? kept : null;
  }

  /** Whether it waits for the owner, or did until settings no longer took it in. */
  has(id: string): boolean {
    const request = this.#kept.get(id)?.request;
    return request !== undefined && (request.state === 'waiting' || isDropped(request));
  }

  /** The owner's answer. Resolves once it is written, or cannot be. */
  async answer(id: string, accept: boolean): Promise<Answered> {
    const kept = this.#kept.get(id);
    if (kept === undefined || kept.request.state !== 'waiting') return { ok: false, message: kept !== undefined && isDropped(kept.request) ? DROPPED : 'This request is no longer waiting.' };
    if (!accept) {
      this.#settle(kept, 'declined', null);
      return { ok: true, sentence: 'Not allowed. Nothing was written.' };
    }
    await this.#write(kept);
    const { state, sentence } = this.#kept.get(id)?.request ?? kept.request;
    if (state === 'done') return { ok: true, sentence: kept.request.kind === 'message' ? 'Sent.' : 'Opened in Mail.' };
    return { ok: false, message: sentence ?? 'Nothing was written.' };
  }

  /** Resolves once a request is settled, the time is over, or nobody waits any more. @param ms most milliseconds */
  async settled(id: string, ms: number, signal: AbortSignal): Promise<void> {
    const state = this.#kept.get(id)?.request.state;
    if (ms <= 0 || signal.aborted || (state !== 'waiting' && state !== 'running')) return;
    await new Promise<void>((resolve) => {
      const end = () => {
        cancel();
        this.#settled.delete(heard);
        signal.removeEventListener('abort', end);
        resolve();
      };
      const heard = (settled: string) => void (settled === id && end());
      const cancel = this.#options.clock.after(ms, end);
      this.#settled.add(heard);
      signal.addEventListener('abort', end, { once: true });
    });
  }

  /** Settings changed: what they no longer take in waits no longer. What cannot be told now is asked when it is written. */
  refresh(): void {
    for (const kept of this.#kept.values()) {
      const { state, client, writing } = kept.request;
      if (state === 'waiting' && this.#options.policy.standing(client, writing!) === 'may-not') this.#drop(kept);
    }
  }

  close(): void {
    this.#closed = true;
    for (const { cancel } of this.#kept.values()) cancel();
    this.#kept.clear();
    this.#settled.clear();
  }

  async #write(kept: Kept): Promise<void> {
    const { request, mark, content } = kept;
    const { journal, policy, clock, write } = this.#options;
    kept.cancel();
    const writing = request.writing!;
    const standing = policy.standing(request.client, writing);
    if (standing === 'may-not') return this.#drop(kept);
    if (standing === 'unreadable') return this.#settle(kept, 'failed', UNREADABLE);
    try {
      journal.begin(mark, { request: request.id, client: request.client, kind: request.kind, content, at: clock.now() });
    } catch {
      return this.#settle(kept, 'failed', 'Belfry cannot write its state at the moment, so nothing was written. Try again in a minute.');
    }
    request.state = 'running';
    const written = await write(writing, request.client).catch((): Written => ({ state: 'unknown', sentence: INTERRUPTED }));
    // It stands as begun, which the next run reads as not known.
    if (this.#closed) return;
    try {
      journal.settle(mark, written.state);
    } catch {
      // The same.
    }
    this.#settle(kept, written.state, 'sentence' in written ? written.sentence : null);
  }

  #drop(kept: Kept): void {
    this.#settle(kept, 'declined', DROPPED, 'dropped');
  }

  #settle(kept: Kept, state: Exclude<WritingState, 'waiting' | 'running'>, sentence: string | null, word: WritingWord = state): void {
    kept.cancel();
    Object.assign(kept.request, { state, sentence, writing: null });
    this.#options.told(kept.request, word);
    for (const heard of [...this.#settled]) heard(kept.request.id);
  }

  #known(mark: string): { readonly request: WritingRequest; readonly content: string } | null {
    const kept = [...this.#kept.values()].findLast((each) => each.mark === mark && STICKY.has(each.request.state) && !isDropped(each.request));
    if (kept !== undefined) return kept;
    const entry = this.#options.journal.find(mark);
    return entry === null ? null : { request: this.#fromJournal(entry.request)!, content: entry.content };
  }

  /** Of an earlier run. */
  #fromJournal(id: string): WritingRequest | null {
    const entry = this.#options.journal.byRequest(id);
    if (entry === null) return null;
    const { request, client, kind, at, state } = entry;
    return { id: request, client, kind, since: at, expiresAt: at, state, sentence: state === 'unknown' ? INTERRUPTED : null, writing: null };
  }

  /** Why nothing more is taken of this client now, or null; else it counts. What goes out unasked takes no place among those that wait. */
  #refusal(client: string, isUnasked: boolean): string | null {
    const waiting = isUnasked ? [] : this.waiting;
    if (waiting.filter((each) => each.client === client).length >= MAX_OF_CLIENT) return `${MAX_OF_CLIENT} texts of yours wait for the owner already. reply_status tells what became of them.`;
    if (waiting.length >= MAX_WAITING_WRITINGS) return `${MAX_WAITING_WRITINGS} texts wait for the owner already. Try again in a minute.`;
    const now = this.#options.clock.monotonic();
    const asked = (this.#asked.get(client) ?? []).filter((at) => at > now - HOUR_MS);
    if (asked.length >= MAX_PER_HOUR) return `At most ${MAX_PER_HOUR} texts may be written in an hour. Try again in ${Math.ceil((asked[0]! + HOUR_MS - now) / 60_000)} minutes.`;
    this.#asked.set(client, [...asked, now]);
    return null;
  }

  #makeRoom(): void {
    for (const [id, { request }] of this.#kept) {
      if (this.#kept.size <= MAX_KEPT) return;
      if (request.state !== 'waiting' && request.state !== 'running') this.#kept.delete(id);
    }
  }
}
