import { create } from 'zustand';
import { many } from '../../app/contract/glance.ts';
import type { LiveRow } from '../../app/contract/values.ts';
import { withEngine } from '../stores/engine-store.ts';
import { say } from '../stores/notice-store.ts';
import { filterRows, isNotMatched, openFilter, type LiveFilter } from './live-filter.ts';
import { keepRows, mergeRows, noRows, releaseRows, type LiveRows } from './live-rows.ts';
import { pageClock, Throttle } from './throttle.ts';

/** On the leading edge, then at most four times a second (ui.md, Live). */
const REPAINT_MS = 250;
/** The polite region says something at most this often (ui.md, section 5). */
const SAY_MS = 10_000;

interface LiveState extends LiveRows {
  readonly filter: LiveFilter;
  /** "Pause list": the list stands still until it is turned off, delivery goes on. */
  readonly paused: boolean;
  /** The list is scrolled, has focus or shows a row's detail, so nothing in it moves. */
  readonly busy: boolean;
}

/** Rows live in the page's memory only and go with it. */
export const useLive = create<LiveState>()(() => ({ ...noRows, filter: openFilter, paused: false, busy: false }));

const isHeld = ({ paused, busy }: LiveState): boolean => paused || busy;

let told: LiveRow[] = [];
const repaint = new Throttle(REPAINT_MS, takeIn, pageClock);
let unsaid = 0;
const speak = new Throttle(SAY_MS, () => {
  say(many(unsaid, 'new event'));
  unsaid = 0;
}, pageClock);

/** Rows of the engine. They show with the next repaint. */
export function tellRows(rows: readonly LiveRow[]): void {
  if (rows.length === 0) return;
  told.push(...rows);
  repaint.ask();
}

function takeIn(): void {
  const state = useLive.getState();
  const rows = state.filter.notMatched ? told : told.filter((row) => !isNotMatched(row));
  told = [];
  const before = newestId(state);
  const merged = mergeRows(state, rows, isHeld(state));
  if (merged === state) return;
  useLive.setState(merged);
  // A row that is told again is no new event.
  const fresh = filterRows(rows, state.filter).filter(({ id }) => id > before).length;
  if (fresh > 0) {
    unsaid += fresh;
    speak.ask();
  }
}

const newestId = ({ shown, pending }: LiveRows): number => Math.max(shown[0]?.id ?? 0, pending[0]?.id ?? 0);

/** Lets in what waited, at the owner's wish: the list moves now, whatever holds it. */
export function showPending(): void {
  useLive.setState(releaseRows);
}

export function setBusy(busy: boolean): void {
  if (useLive.getState().busy === busy) return;
  useLive.setState((state) => ({ busy, ...(busy || state.paused ? {} : releaseRows(state)) }));
}

export function setPaused(paused: boolean): void {
  useLive.setState((state) => ({ paused, ...(paused || state.busy ? {} : releaseRows(state)) }));
}

export function setFilter(filter: Partial<LiveFilter>): void {
  useLive.setState((state) => ({
    filter: { ...state.filter, ...filter },
    ...(filter.notMatched === false ? keepRows(state, (row) => !isNotMatched(row)) : {}),
  }));
}

/** The engine gave all rows that it shows: of the older ones here, those that match nothing are not among them. @param before newest id when it was asked */
function dropUnknown(given: readonly LiveRow[], before: number): void {
  const known = new Set(given.map(({ id }) => id));
  useLive.setState((state) => keepRows(state, ({ id }) => id > before || known.has(id)));
}

let lastClient: object | null = null;

/**
 * Looks on while the section shows. Row ids belong to one run of the engine, so another engine's rows start over.
 * Returns the way to stop.
 */
export function lookOn(): () => void {
  const stop = withEngine((client) => {
    let open = true;
    const subscribe = (notMatched: boolean) => {
      const before = newestId(useLive.getState());
      client.call.live.subscribe({ notMatched }).then(
        ({ rows }) => {
          if (!open) return;
          if (!notMatched) dropUnknown(rows, before);
          // What was there before is no new event: it is taken in at once and not announced.
          useLive.setState((state) => mergeRows(state, rows, isHeld(state)));
        },
        () => undefined,
      );
    };
    if (lastClient !== client) {
      lastClient = client;
      told = [];
      useLive.setState(noRows);
    }
    const stopRows = client.on('live', ({ rows }) => tellRows(rows));
    subscribe(useLive.getState().filter.notMatched);
    const stopFilter = useLive.subscribe(({ filter }, before) => {
      if (filter.notMatched !== before.filter.notMatched) subscribe(filter.notMatched);
    });
    return () => {
      open = false;
      stopRows();
      stopFilter();
      client.call.live.unsubscribe({}).catch(() => undefined);
    };
  });
  return () => {
    stop();
    repaint.stop();
    speak.stop();
    told = [];
    unsaid = 0;
    useLive.setState({ busy: false });
  };
}

