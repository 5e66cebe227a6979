import { z } from 'zod';
import { isEventType } from '../../events/catalogue.ts';
import type { WatchView } from '../../delivery/watch-entry.ts';
import { namesFor } from '../events-request.ts';
import { NO_WATCH, READS, tool, watchId } from './tool.ts';

const described = z.object({
  watch: z.string(), event: z.string(), arguments: z.record(z.string(), z.unknown()),
  madeBy: z.enum(['you', 'owner']),
  unread: z.int().describe('Items that were not confirmed yet.'), confirmed: z.int(),
  missed: z.int().describe('Unread items that had to go because the watch was full.'),
  waitingForOwner: z.boolean().describe('True: the owner does not let all of it through yet.'),
  paused: z.boolean(),
  problem: z.string().nullable(),
});

const describe = (view: WatchView) => ({
  watch: view.id, event: view.type, arguments: view.arguments, madeBy: view.source === 'owner' ? 'owner' as const : 'you' as const,
  unread: view.waiting + view.sent, confirmed: view.confirmed, missed: view.dropped,
  waitingForOwner: !view.covered, paused: view.held === 'paused', problem: view.problem,
});

export const watchEvents = tool({
  name: 'watch_events',
  title: 'Watch events',
  description: 'Starts a standing watch, for example event "mail.received" with arguments {"from": ["ada@example.com"]}. It stays until stop_watch, also over restarts; the same wish again is the same watch. Arrivals then wait in check_inbox and wait_for_events, and are pushed where this session has a channel.',
  input: z.strictObject({
    event: z.string().max(64).describe('A type from list_event_types.'),
    arguments: z.record(z.string().max(64), z.unknown()).describe('Whom to listen for; the type\'s own arguments. A sender is required.'),
  }),
  output: z.object({ watch: described, isNew: z.boolean(), waitingForOwner: z.boolean() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  granted: true,
  run({ event, arguments: args }, { session, principal }) {
    const { backend } = session;
    if (!isEventType(event) || backend.gate(principal, event) === 'off') return { error: 'event: no such event is on. list_event_types shows what can be watched.' };
    if (backend.gate(principal, event) === 'refused') return { error: 'event: the owner does not let this client have it. request_access asks for it.' };
    const added = backend.watches.add(principal.id, event, args, 'tool', namesFor(backend, event, principal));
    if (typeof added === 'string') return { error: added };
    const view = backend.watches.find(added.watch.id, principal.id)!;
    backend.watched(principal, event, added.entries, added.isNew);
    if (session.channel) backend.channels.lead(session.channel);
    const watch = describe(view);
    const sentence = watch.waitingForOwner
      ? `Watch ${watch.watch} is set. The owner of this Mac does not let all of it through yet and was told; nothing more is needed from you, what they allow will arrive.`
      : `Watch ${watch.watch} is set. ${session.channel ? 'Arrivals are pushed to this session; check_inbox has what was missed.' : 'Call wait_for_events to wait for the next arrival, or check_inbox later.'}`;
    return { sentence, value: { watch, isNew: added.isNew, waitingForOwner: watch.waitingForOwner } };
  },
});

export const listWatches = tool({
  name: 'list_watches',
  title: 'List watches',
  description: 'Lists your standing watches with what is unread in each.',
  input: z.strictObject({}),
  output: z.object({ watches: z.array(described) }),
  annotations: READS,
  granted: true,
  run(_args, { session: { backend }, principal }) {
    const watches = backend.watches.list(principal.id).map(describe);
    const unread = watches.reduce((sum, each) => sum + each.unread, 0);
    const sentence = watches.length === 0
      ? 'There is no watch yet. watch_events sets one.'
      : `${watches.length} ${watches.length === 1 ? 'watch' : 'watches'}, ${unread} unread.${unread > 0 ? ' check_inbox gives them.' : ''}`;
    return { sentence, value: { watches } };
  },
});

export const stopWatch = tool({
  name: 'stop_watch',
  title: 'Stop a watch',
  description: 'Ends one of your watches. Its unread items go with it, so call check_inbox before.',
  input: z.strictObject({ watch: watchId }),
  output: z.object({ stopped: z.string() }),
  annotations: { readOnlyHint: false, destructiveHint: true, idempotentHint: true, openWorldHint: false },
  granted: true,
  run({ watch }, { session: { backend }, principal }) {
    switch (backend.watches.stop(watch, principal.id)) {
      case 'stopped': return { sentence: `Watch ${watch} is stopped.`, value: { stopped: watch } };
      case 'owner': return { error: 'watch: the owner of this Mac made this watch, so only they can stop it.' };
      case 'not-kept': return { error: 'Belfry cannot write its state at the moment, so the watch stays. Try again in a minute.' };
      case 'unknown': return { error: NO_WATCH };
    }
  },
});
