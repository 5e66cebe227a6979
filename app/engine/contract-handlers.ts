import { isSharedDomain, parseSender } from '../apple/sender.ts';
import type { Handlers } from '../contract/contract.ts';
import { serveContract, type ContractServer, type Port } from '../contract/port.ts';
import type { LiveRow } from '../contract/values.ts';
import { catalogue } from '../events/catalogue.ts';
import type { Outcome } from '../events/hub.ts';
import { payloadOf } from '../events/occurrence.ts';
import { senderSetOf } from '../policy/sender-rules.ts';
import { describeFault } from './log.ts';
import type { Engine } from './engine.ts';
import { testClient } from './commands.ts';
import { clientRows, doctor, senderRows, slicesOf, statusOf } from './report.ts';
import { addWatch, setInbox, stopWatch, watchRows } from './watch-calls.ts';

const BACKTEST_MS = 30 * 86_400_000;

/** Serves one UI: answers its calls, tells it what changed, and shows arrivals while it looks on. */
export function serveUi(engine: Engine, port: Port): ContractServer {
  let looks: { notMatched: boolean } | null = null;
  const server: ContractServer = serveContract(port, handlersOf(engine, (value) => { looks = value; }), (call, error) => {
    engine.options.log(`${call}: ${describeFault(error)}`);
  });
  const ignore = engine.live.listen({
    outcome(outcome) {
      if (looks === null) return;
      const row = liveRowOf(outcome, engine);
      // What matches no rule is shown only on request, and never leaves the Mac.
      if (looks.notMatched || row.verdicts.length > 0) server.notify('live', { rows: [row] });
    },
    changed: () => server.notify('changed', slicesOf(engine)),
  });
  return { ...server, close() { ignore(); server.close(); } };
}

export function liveRowOf(outcome: Outcome, engine: Engine): LiveRow {
  const { occurrence, notArrival, sentTo, keptFor, notSent } = outcome;
  const { subjects } = engine.policy;
  const { row } = occurrence;
  const name = (id: string) => engine.policy.clientName(id);
  const verdicts = [
    ...[...new Set(sentTo.map(({ id }) => id))].map((id) => ({ client: name(id), sent: true, reason: null })),
    ...[...new Set(keptFor.map(({ id }) => id))].map((id) => ({ client: name(id), sent: false, reason: 'waiting' })),
    ...notSent.map(({ principal, reason }) => ({ client: name(principal.id), sent: false, reason })),
  ];
  const payload = payloadOf(occurrence, true) as { from: { name: string | null }; subject?: string | null; mailbox?: string | null; chat?: { name: string | null } | null };
  return {
    at: engine.clock.now(),
    type: occurrence.type,
    eventId: occurrence.eventId,
    sender: occurrence.sender,
    name: payload.from.name,
    subject: payload.subject ?? null,
    place: row.store === 'mail' ? (payload.mailbox ?? null) : (payload.chat?.name ?? null),
    notArrival,
    verdicts,
    json: sentTo.length === 0 ? null : { eventId: occurrence.eventId, name: occurrence.type, timestamp: occurrence.timestamp, data: payloadOf(occurrence, subjects) },
  };
}

function handlersOf(engine: Engine, look: (value: { notMatched: boolean } | null) => void): Handlers {
  const { policy } = engine;
  return {
    app: { snapshot: () => slicesOf(engine) },
    events: {
      list: () => slicesOf(engine).events,
      set: ({ type, on }) => policy.setEvent(type, on),
      catalogue: () => Object.values(catalogue).map((descriptor) => ({ ...descriptor })),
    },
    senders: {
      list: () => senderRows(engine),
      check: ({ text }) => checkPaste(text, policy.region),
      add: ({ senders, options }) => policy.addSenders(senders, options),
      set: ({ sender, patch }) => policy.setSender(sender, patch),
      remove: ({ senders }) => policy.removeSenders(senders),
      undo: () => policy.undoRemoval(),
      backtest: ({ sender, subdomains, for: which, examples }) => {
        const senders = senderSetOf([sender], subdomains);
        const since = engine.clock.now() - BACKTEST_MS;
        return [...engine.hubs]
          .filter((hub) => policy.eventOn(hub.type) && hub.tail.trouble === null && (which === 'both' || hub.kind === which))
          .map((hub) => {
            const found = hub.backtest({ senders }, since, examples);
            return {
              type: hub.type,
              count: found.count,
              examples: found.examples.map((occurrence) => {
                const payload = payloadOf(occurrence, true) as { from: { name: string | null }; subject?: string | null };
                return { at: occurrence.row.date, sender: occurrence.sender, name: payload.from.name, subject: payload.subject ?? null };
              }),
            };
          });
      },
    },
    clients: {
      list: () => clientRows(engine),
      waiting: () => slicesOf(engine).waiting,
      answer: ({ id, accept, options }) => policy.answer(id, accept, options),
      allow: ({ id, options }) => policy.allowClient(id, options),
      deny: ({ id }) => policy.denyClient(id),
      revoke: ({ id }) => policy.revokeClient(id),
      test: ({ id }) => testClient(engine, id) ?? [],
    },
    watches: {
      list: () => watchRows(engine),
      add: ({ client, type, arguments: args }) => addWatch(engine, client, type, args),
      stop: ({ id }) => stopWatch(engine, id),
      setInbox: ({ id, directory }) => setInbox(engine, id, directory),
    },
    live: {
      subscribe: ({ notMatched }) => {
        look({ notMatched });
        return { rows: [] };
      },
      unsubscribe: () => {
        look(null);
        return null;
      },
    },
    activity: {
      recent: ({ limit, filter }) => engine.activity.recent(limit, filter),
    },
    settings: { get: () => policy.snapshot().settings, set: ({ key, value }) => policy.setSetting(key, value) },
    pause: { get: () => policy.pausedUntil, start: ({ ms }) => policy.pause(ms), resume: () => policy.resume() },
    status: { get: () => statusOf(engine) },
    diagnostics: { run: () => doctor(engine) },
  };
}

/** One entry a line or separated by commas; the rest of a paste is kept when one is refused (ui.md, Senders). */
function checkPaste(text: string, region: string | null) {
  return text.split(/[\n,;]/).map((entry) => entry.trim()).filter((entry) => entry !== '').map((entry) => {
    const parsed = parseSender(entry, region);
    if (!parsed.ok) return { ok: false as const, text: entry, reason: parsed.reason };
    return { ok: true as const, text: entry, kind: parsed.kind, value: parsed.value, shared: parsed.kind === 'domain' && isSharedDomain(parsed.value) };
  });
}
