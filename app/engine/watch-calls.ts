import type { ContractOutcome, WatchRow } from '../contract/values.ts';
import { directoryProblem } from '../delivery/codex-inbox.ts';
import type { WatchView } from '../delivery/watch-entry.ts';
import { EventsError } from '../events/errors.ts';
import type { EventType } from '../events/occurrence.ts';
import type { Engine } from './engine.ts';

/** What the owner's surfaces ask of watches. Sentences are for them: they may name what a client may not hear. */
export function watchRows(engine: Engine): WatchRow[] {
  return engine.watches.list(null).map((view) => ({
    id: view.id, client: view.client, type: view.type, senders: view.senders, source: view.source, state: stateOf(view),
    waiting: view.waiting, sent: view.sent, confirmed: view.confirmed, dropped: view.dropped, gap: view.gap > 0,
    inbox: view.inbox, problem: engine.inboxes.problemOf(view.id) ?? view.problem, createdAt: view.createdAt,
  }));
}

function stateOf({ problem, held, covered }: WatchView): WatchRow['state'] {
  if (problem !== null) return 'problem';
  switch (held) {
    case 'off': return 'off';
    case 'refused':
    case 'approval': return 'waiting-for-owner';
    case 'paused': return 'paused';
    case 'rate': return 'ceiling';
    case 'trouble': return 'unreadable';
    case null: return covered ? 'watching' : 'waiting-for-owner';
  }
}

export function stopWatch(engine: Engine, id: string): ContractOutcome {
  switch (engine.watches.stop(id, null)) {
    case 'stopped':
      engine.activity.record({ kind: 'changed', reason: 'A watch was stopped' });
      return done(`Watch ${id} is stopped.`);
    case 'not-kept':
      return { ok: false, code: 'not-written', message: 'The change could not be written, so the watch stays.' };
    default:
      return noWatch(id);
  }
}

export function addWatch(engine: Engine, client: string, type: EventType, args: Readonly<Record<string, unknown>>): ContractOutcome {
  if (!engine.policy.snapshot().clients.some(({ id }) => id === client)) return { ok: false, code: 'unknown', message: `No client has the id ${client}.` };
  if (!engine.policy.eventOn(type)) return { ok: false, code: 'refused', message: `${type} is off. Turn it on first.` };
  try {
    const added = engine.watches.add(client, type, args, 'owner');
    if (typeof added === 'string') return { ok: false, code: 'not-written', message: added };
    if (added.isNew) engine.activity.record({ kind: 'changed', type, client, reason: 'A watch was added' });
    return { ok: true, changed: added.isNew, sentence: added.isNew ? `Watch ${added.watch.id} is set.` : `Watch ${added.watch.id} is the same already.` };
  } catch (error) {
    if (!(error instanceof EventsError)) throw error;
    const message = error.message === 'ResourceExhausted' ? `At most ${String(error.data?.['max'])} ${String(error.data?.['limit'])} are kept.` : error.message;
    return { ok: false, code: 'invalid', message };
  }
}

/** @param directory null: no files any more. */
export function setInbox(engine: Engine, id: string, directory: string | null): ContractOutcome {
  if (engine.watches.find(id, null) === null) return noWatch(id);
  const problem = directory === null ? null : directoryProblem(directory);
  if (problem !== null) return { ok: false, code: 'invalid', message: problem };
  const refused = engine.watches.setInbox(id, directory);
  if (refused !== null) return { ok: false, code: 'not-written', message: refused };
  engine.activity.record({ kind: 'changed', reason: directory === null ? 'Files for a watch turned off' : 'Files for a watch turned on' });
  engine.inboxes.refresh();
  return done(directory === null ? 'No files are written any more.' : 'New items are written to the folder as well.');
}

const done = (sentence: string): ContractOutcome => ({ ok: true, changed: true, sentence });
const noWatch = (id: string): ContractOutcome => ({ ok: false, code: 'unknown', message: `No watch has the id ${JSON.stringify(id)}. "belfry watches list" shows the ids.` });
