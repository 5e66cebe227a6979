import { StoreError } from '../apple/reader.ts';
import { contract, type Handlers } from '../contract/contract.ts';
import { serveContract, type ContractServer, type Port } from '../contract/port.ts';
import type { ContractOutcome } from '../contract/values.ts';
import { catalogue, modesOf } from '../events/catalogue.ts';
import { payloadOf } from '../events/occurrence.ts';
import { checkEntry, splitEntries } from '../policy/sender-edit.ts';
import { senderSetOf } from '../policy/sender-rules.ts';
import { describeFault } from './log.ts';
import type { Engine } from './engine.ts';
import type { LiveLooker } from './live-feed.ts';
import { excludedPlaces } from './excluded-places.ts';
import { mailboxRows, resolveExcluded, resolveMailboxes, resolvePlaces, shownPlaces } from './mailbox-names.ts';
import { clientRows, doctor, eventRows, senderRows, slicesOf, statusOf } from './report.ts';
import { suggestSenders } from './suggestions.ts';
import { testClient } from './test-event.ts';
import { answerWaiting } from './writing.ts';
import { addWatch, setInbox, stopWatch, watchRows } from './watch-calls.ts';
import { stopWebhook, webhookRows } from './webhook-calls.ts';

const BACKTEST_MS = 30 * 86_400_000;

/** Serves one UI: answers its calls, tells it what changed, and shows arrivals while it looks on. */
export function serveUi(engine: Engine, port: Port): ContractServer<typeof contract> {
  const looker: LiveLooker = { rows: (rows) => server.notify('live', { rows: [...rows] }) };
  const server = serveContract(contract, port, handlersOf(engine, looker), (call, error) => {
    engine.options.log(`${call}: ${describeFault(error)}`);
  });
  const stops = [
    engine.changes.listen((changed) => server.notify('changed', changed)),
    engine.activity.onRows((rows) => server.notify('activity', { rows: [...rows] })),
  ];
  return {
    ...server,
    close() {
      engine.live.leave(looker);
      for (const stop of stops) stop();
      server.close();
    },
  };
}

function handlersOf(engine: Engine, looker: LiveLooker): Handlers {
  const { policy } = engine;
  return {
    app: { snapshot: () => engine.changes.snapshot(), busy: () => ({ answering: engine.peers.answering + engine.http.answering }) },
    events: {
      list: () => eventRows(engine),
      set: ({ type, on }) => policy.setEvent(type, on),
      catalogue: () => Object.values(catalogue).map((descriptor) => ({ ...descriptor, delivery: modesOf(policy.webhooksOn) })),
      mailboxes: () => {
        const reader = engine.readable('mail');
        return reader === null ? [] : mailboxRows(reader);
      },
      setMailboxes: ({ mailboxes }) => {
        if (mailboxes === null) return policy.setMailboxes(null);
        const resolved = resolveMailboxes(engine.readable('mail'), mailboxes);
        return resolved.ok ? policy.setMailboxes(resolved.keys) : resolved;
      },
    },
    access: { probe: () => engine.probeAccess() },
    senders: {
      list: () => senderRows(engine),
      check: ({ text }) => splitEntries(text).map((entry) => checkEntry(entry, policy.region)),
      add: ({ senders, options }) => policy.addSenders(senders, options),
      set: ({ sender, patch }) => policy.setSender(sender, patch),
      remove: ({ senders }) => policy.removeSenders(senders),
      undo: () => policy.undoRemoval(),
      suggest: ({ text, limit }) => orNothing(() => suggestSenders({
        contacts: engine.contacts, mail: engine.readable('mail'), messages: engine.readable('messages'), region: policy.region,
      }, text, limit)),
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
    chats: {
      find: ({ text, limit }) => orNothing(() => engine.chats.find(text, limit)),
      add: ({ ids }) => {
        const resolved = engine.chats.resolve(ids);
        return resolved.ok ? policy.addChats(resolved.chats) : resolved;
      },
      remove: ({ ids }) => policy.removeChats(ids),
    },
    clients: {
      list: () => clientRows(engine),
      waiting: () => slicesOf(engine).waiting,
      answer: ({ id, accept, options }) => answerWaiting(engine, id, accept, options),
      allow: ({ id, options }) => policy.allowClient(id, options),
      deny: ({ id }) => policy.denyClient(id),
      revoke: ({ id }) => policy.revokeClient(id),
      test: ({ id }) => testClient(engine, id) ?? [],
    },
    tokens: {
      list: () => [...policy.credentials.views],
      create: ({ label, options }) => policy.change({ do: 'create-token', label, options }),
      revoke: ({ id }) => policy.revokeToken(id),
    },
    excluded: {
      list: () => shownPlaces(engine.readable('mail'), policy.snapshot().excluded),
      places: () => excludedPlaces(engine.readable('mail'), policy.snapshot().excluded),
      add: ({ places }) => {
        const resolved = resolvePlaces(engine.readable('mail'), places);
        return resolved.ok ? policy.exclude(resolved.keys) : resolved;
      },
      remove: ({ places }) => policy.include(resolveExcluded(engine.readable('mail'), places, policy.snapshot().excluded)),
    },
    watches: {
      list: () => watchRows(engine),
      add: ({ client, type, arguments: args }) => addWatch(engine, client, type, args),
      stop: ({ id }) => stopWatch(engine, id),
      setInbox: ({ id, directory }) => setInbox(engine, id, directory),
    },
    search: { status: () => engine.search.state(), deadLetters: () => orNothing(() => engine.search.deadLetters()), rebuild: () => engine.search.rebuild() },
    hosts: {
      list: () => [...policy.snapshot().hosts],
      add: ({ hosts }) => policy.addHosts(hosts),
      remove: ({ hosts }) => policy.removeHosts(hosts),
    },
    webhooks: {
      list: () => webhookRows(engine),
      stop: ({ id }) => stopWebhook(engine, id),
    },
    live: {
      subscribe: ({ notMatched }) => ({ rows: engine.live.look(looker, notMatched) }),
      unsubscribe: () => {
        engine.live.leave(looker);
        return null;
      },
    },
    activity: {
      recent: ({ limit, filter }) => engine.activity.recent(limit, filter),
      export: () => engine.activity.export(),
    },
    settings: {
      get: () => policy.snapshot().settings,
      set: ({ key, value }): ContractOutcome => policy.setSetting(key, value),
      export: () => policy.exportSettings(),
      import: ({ json }) => policy.importSettings(json),
      reset: () => policy.reset(),
      answerSeal: ({ accept }) => policy.answerSeal(accept),
    },
    pause: { get: () => policy.pausedUntil, start: ({ ms }) => policy.pause(ms), resume: () => policy.resume() },
    status: { get: () => statusOf(engine) },
    diagnostics: { run: () => doctor(engine) },
  };
}

/** A store that went in this very moment has nothing to offer; its trouble is told elsewhere. */
function orNothing<T>(look: () => T[]): T[] {
  try {
    return look();
  } catch (error) {
    if (error instanceof StoreError) return [];
    throw error;
  }
}
