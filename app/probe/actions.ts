import { findEvent, listEvents, poll, requireEvents, shown } from './events.ts';
import type { Draft } from './report.ts';
import type { Action } from './request.ts';
import type { Session } from './session.ts';

/** What there is to wait for: each event as the server describes it. */
export async function list(session: Session, draft: Draft<'list'>): Promise<void> {
  requireEvents(session);
  const events = await listEvents(session);
  draft.events = events.map(({ whole }) => whole);
  draft.eventCount = events.length;
}

/** One look, without waiting. */
export async function pollOnce(session: Session, action: Extract<Action, { do: 'poll' }>, options: { readonly skipList: boolean; readonly includeText: boolean }, draft: Draft<'poll'>): Promise<void> {
  draft.eventName = action.event;
  draft.initialCursor = action.cursor;
  requireEvents(session);
  if (!options.skipList) await findEvent(session, action.event);
  draft.eventFound = true;
  const batch = await poll(session, action.event, action.args, { cursor: action.cursor, maxEvents: action.max, maxAgeMs: action.cursor === null ? null : action.maxAgeMs });
  draft.argumentsHonored = true;
  draft.route = action.cursor === null ? 'bootstrap' : 'poll';
  draft.events = batch.events.map((event) => shown(event, options.includeText));
  draft.eventCount = batch.events.length;
  draft.eventReceived = batch.events.length > 0;
  draft.truncated = batch.truncated;
  draft.hasMore = batch.hasMore;
  draft.nextPollMs = batch.nextPollMs;
  draft.finalCursor = batch.cursor;
}

