import { cursorOf, errorOf, findEvent, fits, occurrenceOf, poll, requireEvents, shown, violation, type Batch, type Occurrence } from './events.ts';
import { isLoss, ProbeFailure, type ErrorName } from './failure.ts';
import { subscriptionOf, type Exchange, type JsonObject, type Notification } from './link.ts';
import { refusalOf } from './refusal.ts';
import type { Draft } from './report.ts';
import type { Action } from './request.ts';
import type { Session } from './session.ts';

type Wait = Extract<Action, { do: 'wait' }>;

/** Heartbeats come at least every 30 s; after twice that the stream is dead (events-extension 6.3). */
const SILENCE_MS = 65_000;
/** Clients poll no sooner than this (events-extension 5). */
const POLL_FLOOR_MS = 1000;
const MAX_BATCH = 200;
/** Of what came between, at most so many pages: the stream brings the rest. */
const MAX_PAGES = 20;
/** Ids that are remembered, so that a long wait for one of many stays small. */
const MAX_SEEN = 10_000;

/**
 * Sleeps until enough events came that fit, or time is up. The subscription comes first; then one poll from where it
 * began, so that nothing falls between the two; servers that cannot push are polled.
 */
export async function wait(session: Session, action: Wait, options: { readonly skipList: boolean; readonly includeText: boolean; note(line: string): void }, draft: Draft<'wait'>): Promise<void> {
  draft.eventName = action.event;
  requireEvents(session);
  const modes = options.skipList ? ['poll', 'push'] : (await findEvent(session, action.event)).delivery;
  draft.eventFound = true;
  const arrivals = new Arrivals(session, action, options, draft);
  if (action.cursor === null && modes.includes('poll')) {
    draft.initialCursor = await firstPosition(session, action, draft);
  } else draft.initialCursor = action.cursor;
  draft.finalCursor = draft.initialCursor;
  if (modes.includes('push')) await byStream(session, action, arrivals, modes.includes('poll'));
  else await byPoll(session, action, arrivals);
}

/** From now on. A client that the owner has still to decide on gets none by a poll, nor does an event that is not polled; a stream may be had all the same. */
async function firstPosition(session: Session, action: Wait, draft: Draft<'wait'>): Promise<string | null> {
  try {
    const { cursor } = await poll(session, action.event, action.args, {});
    draft.argumentsHonored = true;
    return cursor;
  } catch (error) {
    if (error instanceof ProbeFailure && WITHOUT_POSITION.has(error.code)) return null;
    throw error;
  }
}

const WITHOUT_POSITION: ReadonlySet<ErrorName> = new Set(['CLIENT_NOT_APPROVED', 'MODE_NOT_OFFERED']);
/** What of the poll behind a stream counts although the stream stands. */
const COUNTS: ReadonlySet<ErrorName> = new Set(['EVENT_GAP', 'PROTOCOL_VIOLATION', 'BAD_RESPONSE', 'INTERNAL_ERROR']);

async function byStream(session: Session, action: Wait, arrivals: Arrivals, canPoll: boolean): Promise<void> {
  const { draft } = arrivals;
  const start = draft.initialCursor;
  const params = {
    name: action.event, arguments: action.args, cursor: start,
    ...(ageOf(action) !== null && { maxAgeMs: ageOf(action) }),
  };
  const { link, deadline } = session;
  // What names no stream of ours must not come at all.
  link.onnotification = (notification) => arrivals.stray(notification);
  const exchange = session.start('events/stream', params, (notification, id) => arrivals.take(notification, id));
  try {
    const ended = ending(exchange, session, action, arrivals);
    await deadline.within(Promise.race([arrivals.active, arrivals.done, ended]), () => arrivals.late());
    if (canPoll && start !== null) {
      const again = reread(session, action, arrivals, start).catch((error: unknown) => {
        const isPassing = error instanceof ProbeFailure && !COUNTS.has(error.code) && !isLoss(error);
        if (!isPassing) throw error;
      });
      await deadline.within(Promise.race([again, arrivals.done, ended]), () => arrivals.late());
    }
    await deadline.within(Promise.race([arrivals.done, ended, silent(session, arrivals)]), () => arrivals.late());
    draft.closeReason = 'local';
  } catch (error) {
    if (isLoss(error) && draft.streamActive) {
      draft.closeReason = 'remote';
      throw new ProbeFailure('STREAM_DISCONNECTED', `The stream broke off. ${error.message}`);
    }
    draft.closeReason ??= 'local';
    throw error;
  } finally {
    exchange.cancel();
  }
}

/** Rejects when the stream comes to its end before enough came. */
async function ending(exchange: Exchange, session: Session, action: Wait, arrivals: Arrivals): Promise<never> {
  const { draft } = arrivals;
  let answer;
  try {
    answer = await exchange.answer;
  } catch (error) {
    // Unless it was withdrawn: then it fails too, and nobody waits for it.
    draft.closeReason ??= 'remote';
    throw error;
  }
  if ('error' in answer) throw refusalOf(answer.error, { isBelfry: session.options.isBelfry, method: 'events/stream', event: action.event });
  draft.closeReason ??= 'graceful';
  if (arrivals.terminated) throw arrivals.terminated;
  throw new ProbeFailure('STREAM_DISCONNECTED', 'The server closed the stream without ending the subscription.');
}

/** Only a position that was given can be too old. */
const ageOf = ({ cursor, maxAgeMs }: Wait): number | null => (cursor === null ? null : maxAgeMs);

/** What came between the first position and the subscription, in as many pages as the server makes of it. */
async function reread(session: Session, action: Wait, arrivals: Arrivals, start: string): Promise<void> {
  const { event, args, count, until } = action;
  let cursor = start;
  for (let page = 0; page < MAX_PAGES && !arrivals.isOver; page += 1) {
    const maxEvents = until === null ? Math.min(count - arrivals.draft.eventCount, MAX_BATCH) : MAX_BATCH;
    const batch = await poll(session, event, args, { cursor, maxEvents, maxAgeMs: ageOf(action) });
    const taken = arrivals.batch(batch, 'backlog');
    if (taken !== null) {
      if (taken < batch.events.length) await findPosition(session, action, arrivals, cursor, batch.events.slice(0, taken));
      return arrivals.finish();
    }
    if (!batch.hasMore || batch.cursor === null) return;
    cursor = batch.cursor;
  }
}

/** It was enough before the page was: the position right behind those events is the one to go on from. */
async function findPosition(session: Session, action: Wait, arrivals: Arrivals, cursor: string, taken: readonly Occurrence[]): Promise<void> {
  const again = await poll(session, action.event, action.args, { cursor, maxEvents: taken.length, maxAgeMs: ageOf(action) });
  if (again.events.length === taken.length && again.events.at(-1)!.eventId === taken.at(-1)!.eventId) arrivals.draft.finalCursor = again.cursor;
}

async function silent(session: Session, arrivals: Arrivals): Promise<never> {
  for (;;) {
    const { heard } = arrivals;
    await session.deadline.pause(SILENCE_MS);
    if (session.deadline.left === 0) return new Promise<never>(() => undefined);
    if (arrivals.heard === heard) {
      arrivals.draft.closeReason = 'local';
      throw new ProbeFailure('STREAM_DISCONNECTED', 'The stream has been silent for longer than two heartbeats.');
    }
  }
}

/** For events that are not pushed. */
async function byPoll(session: Session, action: Wait, arrivals: Arrivals): Promise<void> {
  const { event, args, count } = action;
  for (;;) {
    const cursor = arrivals.draft.finalCursor;
    const more = { cursor, maxEvents: Math.min(count, MAX_BATCH), maxAgeMs: ageOf(action) };
    const batch = await poll(session, event, args, more).catch((error: unknown) => {
      throw error instanceof ProbeFailure && error.code === 'SERVER_TIMEOUT' && arrivals.draft.argumentsHonored ? arrivals.late() : error;
    });
    const taken = arrivals.batch(batch, 'poll');
    if (taken !== null) {
      if (taken < batch.events.length && cursor !== null) await findPosition(session, action, arrivals, cursor, batch.events.slice(0, taken));
      return;
    }
    if (batch.hasMore) continue;
    if (!(await session.deadline.pause(Math.max(batch.nextPollMs ?? POLL_FLOOR_MS, POLL_FLOOR_MS)))) throw arrivals.late();
  }
}

/** What has come so far, by stream and by poll, each event once. */
class Arrivals {
  readonly draft: Draft<'wait'>;
  /** The stream is confirmed. */
  readonly active: Promise<void>;
  /** Enough came. Rejects where a rule was broken, or on a gap that must not pass. */
  readonly done: Promise<void>;
  terminated: ProbeFailure | null = null;
  /** Counts what the stream sent. */
  heard = 0;
  readonly #session: Session;
  readonly #action: Wait;
  readonly #options: { readonly includeText: boolean; note(line: string): void };
  readonly #seen = new Set<string>();
  #activate: () => void = () => undefined;
  #finish: () => void = () => undefined;
  #break: (failure: ProbeFailure) => void = () => undefined;
  /** Enough came, or it failed: nothing more is taken. */
  #isOver = false;
  /** Why nothing comes although the stream is open. */
  #held: ProbeFailure | null = null;

  constructor(session: Session, action: Wait, options: { readonly includeText: boolean; note(line: string): void }, draft: Draft<'wait'>) {
    this.#session = session;
    this.#action = action;
    this.#options = options;
    this.draft = draft;
    this.active = new Promise((resolve) => {
      this.#activate = resolve;
    });
    this.done = new Promise((resolve, reject) => {
      this.#finish = resolve;
      this.#break = reject;
    });
    this.done.catch(() => undefined);
  }

  get isOver(): boolean {
    return this.#isOver;
  }

  finish(): void {
    this.#finish();
  }

  /** One notification of the stream. */
  take(notification: Notification, id: number): void {
    if (this.#isOver) return;
    try {
      if (subscriptionOf(notification) !== id) throw violation(`${notification.method} has another subscription id than the request.`);
      this.#take(notification);
      if (this.#isOver) this.#finish();
    } catch (error) {
      this.#fail(error as ProbeFailure);
    }
  }

  stray({ method }: Notification): void {
    if (!this.#isOver && method.startsWith('notifications/events/')) this.#fail(violation(`The server sent ${method} for a subscription that is not there.`));
  }

  /** @returns how many of the batch it took to have enough, after which `finish` is due; null if there is not enough yet */
  batch(batch: Batch, route: 'backlog' | 'poll'): number | null {
    if (this.#isOver) return null;
    this.draft.argumentsHonored = true;
    this.draft.truncated ??= false;
    if (batch.truncated) this.#gap();
    if (this.#isOver) throw new ProbeFailure('EVENT_GAP', GAP);
    for (const [at, occurrence] of batch.events.entries()) {
      this.#arrived(occurrence, route, at === batch.events.length - 1 ? batch.cursor : this.draft.finalCursor);
      if (this.#isOver) return at + 1;
    }
    if (batch.cursor !== null && route === 'poll') this.draft.finalCursor = batch.cursor;
    return null;
  }

  /** The failure once time is up. */
  late(): ProbeFailure {
    this.#isOver = true;
    if (!this.draft.streamActive && this.draft.argumentsHonored !== true) return new ProbeFailure('SERVER_TIMEOUT', 'The server did not confirm the subscription in time.');
    this.draft.route = 'timeout';
    if (this.#held) return this.#held;
    const { eventCount } = this.draft;
    return new ProbeFailure('EVENT_TIMEOUT', eventCount === 0 ? 'No event came in time.' : `Only ${eventCount} of ${this.#action.count} events came in time.`);
  }

  #take(notification: Notification): void {
    const { method, params } = notification;
    this.heard += 1;
    const name = method.slice('notifications/events/'.length);
    if (!this.draft.streamActive && name !== 'active') throw violation(`The first message of a stream must be active; the server sent ${method}.`);
    switch (name) {
      case 'active':
        this.draft.streamActive = true;
        this.draft.argumentsHonored = true;
        this.draft.truncated ??= false;
        this.#held = null;
        this.#position(params);
        if (params['truncated'] === true) this.#gap();
        return this.#activate();
      case 'event':
        this.#held = null;
        return this.#arrived(occurrenceOf(params, this.#action.event), 'event', cursorOf(params));
      case 'heartbeat': {
        const before = this.draft.finalCursor;
        this.#position(params);
        // Whatever held it looks at rows again.
        if (this.draft.finalCursor !== before) this.#held = null;
        return;
      }
      case 'error': {
        this.#held = refusalOf(errorOf(notification), { isBelfry: this.#session.options.isBelfry, method: 'events/stream', event: this.#action.event });
        return this.#options.note(`${this.#held.message}; the stream stays open and goes on by itself.`);
      }
      case 'terminated': {
        const { code, message, data } = errorOf(notification);
        const reason = typeof data?.['reason'] === 'string' ? ` (${data['reason']})` : '';
        this.terminated = new ProbeFailure('STREAM_TERMINATED', `The server ended the subscription with ${code}: ${message}${reason}`);
        this.draft.closeReason = 'graceful';
        return this.#fail(this.terminated);
      }
      default:
        throw violation(`A stream may not carry ${method}.`);
    }
  }

  #position(params: JsonObject): void {
    const cursor = cursorOf(params);
    if (cursor === null) return;
    this.draft.initialCursor ??= cursor;
    this.draft.finalCursor = cursor;
  }

  #arrived(occurrence: Occurrence, route: string, cursor: string | null): void {
    const { draft } = this;
    if (this.#seen.has(occurrence.eventId)) return;
    this.#seen.add(occurrence.eventId);
    if (this.#seen.size > MAX_SEEN) this.#seen.delete(this.#seen.values().next().value!);
    if (cursor !== null) draft.finalCursor = cursor;
    if (!fits(occurrence.whole['data']!, this.#action.until)) return;
    draft.route = route;
    draft.eventReceived = true;
    draft.eventCount += 1;
    if (draft.event !== null) draft.earlierEvents = [...draft.earlierEvents, draft.event];
    draft.event = shown(occurrence, this.#options.includeText);
    this.#isOver = draft.eventCount >= this.#action.count;
  }

  #gap(): void {
    this.draft.truncated = true;
    if (this.#action.failOnGap) this.#fail(new ProbeFailure('EVENT_GAP', GAP));
    else this.#options.note('Something may have been missed before this position (truncated).');
  }

  #fail(failure: ProbeFailure): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#break(failure);
  }
}

const GAP = 'Something may have been missed: the server cannot go on from the position that was given.';
