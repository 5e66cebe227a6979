import { create } from 'zustand';
import { ContractError } from '../../app/contract/port.ts';
import type { ContractOutcome } from '../../app/contract/values.ts';

/** The undo bar is the one thing that leaves by itself (ui.md, section 5). */
export const UNDO_MS = 10_000;

interface Offer {
  readonly id: number;
  readonly text: string;
  readonly undo: () => void;
}

interface NoticeState {
  /** What the one polite live region says. */
  readonly said: string;
  /** A sentence about something that did not work, until it is closed. */
  readonly problem: string | null;
  readonly offer: Offer | null;
  /** Sheets that are open. */
  readonly sheets: number;
}

export const useNotices = create<NoticeState>()(() => ({ said: '', problem: null, offer: null, sheets: 0 }));

let nextId = 1;
/** Calls of the owner that are under way. */
let underWay = 0;
let leaving: ReturnType<typeof setTimeout> | undefined;

export function say(sentence: string): void {
  // The same sentence twice is spoken twice only if the text differs.
  useNotices.setState(({ said }) => ({ said: said === sentence ? `${sentence}\u00a0` : sentence }));
}

export function showProblem(sentence: string): void {
  useNotices.setState({ problem: sentence });
  say(sentence);
}

export function closeProblem(): void {
  useNotices.setState({ problem: null });
}

/** What was open is gone. While a call is under way that is its effect, and its outcome says so. */
export function tellGone(sentence: string): void {
  if (underWay === 0) showProblem(sentence);
}

/** A sheet is open until the function that this returns is called. A problem told before it is not its own. */
export function enterSheet(): () => void {
  useNotices.setState(({ sheets }) => ({ sheets: sheets + 1, problem: null }));
  return () => useNotices.setState(({ sheets }) => ({ sheets: sheets - 1, problem: null }));
}

/** Shows the undo bar for 10 s. A newer offer replaces an older one. */
export function offerUndo(text: string, undo: () => void): void {
  clearTimeout(leaving);
  const id = nextId++;
  useNotices.setState({ offer: { id, text, undo }, problem: null });
  say(`${text} Undo is possible for 10 seconds.`);
  leaving = setTimeout(() => withdraw(id), UNDO_MS);
}

function withdraw(id: number): void {
  if (useNotices.getState().offer?.id === id) useNotices.setState({ offer: null });
}

/** The undo bar's button and Cmd-Z. @returns whether there was something to undo */
export function undoNow(): boolean {
  const { offer } = useNotices.getState();
  if (!offer) return false;
  clearTimeout(leaving);
  useNotices.setState({ offer: null });
  offer.undo();
  return true;
}

/**
 * Waits for a call. One that fails, or whose outcome is a refusal, shows its sentence and gives null; an outcome that is
 * fine is said politely.
 */
export async function run<T>(call: Promise<T>): Promise<T | null> {
  underWay += 1;
  try {
    const value = await call;
    if (isOutcome(value)) {
      if (!value.ok) {
        showProblem(value.message);
        return null;
      }
      closeProblem();
      if (value.sentence !== '') say(value.sentence);
    }
    return value;
  } catch (error) {
    showProblem(problemOf(error));
    return null;
  } finally {
    underWay -= 1;
  }
}

/** What a failed call says to its owner. */
export const problemOf = (error: unknown): string => (error instanceof ContractError ? error.message : 'Belfry could not do this. Try again.');

function isOutcome(value: unknown): value is ContractOutcome {
  return typeof value === 'object' && value !== null && 'ok' in value && ('changed' in value || 'code' in value);
}
