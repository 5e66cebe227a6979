import type { Preferences, Section, ShellState } from '../app/contract/shell.ts';
import type { Slices } from '../app/contract/values.ts';

export type AlertId = 'access-lost' | 'engine-stopped' | 'client-asks' | 'text-waits' | 'not-delivered' | 'update-ready';

export interface Alert {
  readonly id: AlertId;
  /** No sender, no subject, no client. */
  readonly text: string;
  readonly preference: keyof Preferences & `alert${string}`;
  /** How long the condition has to hold, ms. */
  readonly steadyMs: number;
  /** What a click opens. */
  readonly section: Section;
}

/** ui.md, section 4. Never one for each event, never for a success. */
export const ALERTS: readonly Alert[] = [
  { id: 'access-lost', text: "Mail and message events have stopped. Belfry can't read them.", preference: 'alertAccessLost', steadyMs: 60_000, section: 'events' },
  { id: 'engine-stopped', text: 'Events have stopped.', preference: 'alertEngineStopped', steadyMs: 0, section: 'events' },
  { id: 'client-asks', text: 'A new app wants events.', preference: 'alertClientAsks', steadyMs: 0, section: 'clients' },
  { id: 'text-waits', text: 'A client wants to write something. It waits for you.', preference: 'alertClientAsks', steadyMs: 0, section: 'clients' },
  { id: 'not-delivered', text: 'Events are waiting. No client is listening.', preference: 'alertNotDelivered', steadyMs: 600_000, section: 'clients' },
  { id: 'update-ready', text: 'An update is ready.', preference: 'alertUpdateReady', steadyMs: 0, section: 'settings' },
];

export interface AlertFacts {
  /** Conditions that hold now. */
  readonly holding: ReadonlySet<AlertId>;
  readonly preferences: Preferences;
  /** A window of ours is in front: the owner sees it there. */
  readonly inFront: boolean;
}

/** Since when each condition holds (monotonic ms), and whether the owner knows of it. */
export type AlertMemory = ReadonlyMap<AlertId, { readonly since: number; readonly told: boolean }>;

export interface AlertDecision {
  readonly tell: readonly Alert[];
  /** Cleared: what was shown is taken back. */
  readonly withdraw: readonly AlertId[];
  readonly memory: AlertMemory;
  /** When to decide again without anything happening, ms from now; null: not needed. */
  readonly againMs: number | null;
}

/** One notification for a condition until it clears. @param now monotonic ms */
export function decideAlerts(facts: AlertFacts, memory: AlertMemory, now: number): AlertDecision {
  const next = new Map<AlertId, { since: number; told: boolean }>();
  const tell: Alert[] = [];
  let againMs: number | null = null;
  for (const alert of ALERTS) {
    if (!facts.holding.has(alert.id)) continue;
    const known = memory.get(alert.id) ?? { since: now, told: false };
    const left = known.since + alert.steadyMs - now;
    const due = !known.told && left <= 0;
    if (left > 0) againMs = Math.min(againMs ?? Infinity, left);
    // Off: not told and not counted as told, so that turning it on tells what still holds.
    if (due && facts.preferences[alert.preference] === true && !facts.inFront) tell.push(alert);
    next.set(alert.id, { since: known.since, told: known.told || (due && (facts.inFront || facts.preferences[alert.preference] === true)) });
  }
  return { tell, withdraw: [...memory].filter(([id, { told }]) => told && !next.has(id)).map(([id]) => id), memory: next, againMs };
}

/**
 * Which conditions hold.
 * @param heardAt when a client listened last, Unix ms; null: never in this run
 */
export function conditionsOf(shell: Pick<ShellState, 'engine' | 'update'>, slices: Slices | null, heardAt: number | null): ReadonlySet<AlertId> {
  const holding = new Set<AlertId>();
  if (shell.engine === 'stopped') holding.add('engine-stopped');
  if (shell.update.state === 'ready') holding.add('update-ready');
  if (slices === null) return holding;
  const { mail, messages } = slices.access;
  if ([mail, messages].some(({ state, everRead }) => state === 'denied' && everRead)) holding.add('access-lost');
  if (slices.waiting.some(({ kind }) => kind === 'client' || kind === 'sign-in')) holding.add('client-asks');
  if (slices.waiting.some(({ kind }) => kind === 'send' || kind === 'draft')) holding.add('text-waits');
  const listening = slices.clients.some(({ state }) => state === 'listening');
  const expected = slices.clients.some(({ decision }) => decision === 'always');
  const arrivedAt = Math.max(...slices.events.map(({ on, lastAt }) => (on ? (lastAt ?? 0) : 0)), 0);
  if (!listening && expected && arrivedAt > (heardAt ?? 0)) holding.add('not-delivered');
  return holding;
}
