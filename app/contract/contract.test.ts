import { MessageChannel } from 'node:worker_threads';
import { afterEach, describe, expect, test } from 'vitest';
import { policyIn } from '../policy/testing.ts';
import { memoryPorts } from '../testing/memory-ports.ts';
import { tempFolder } from '../testing/temp.ts';
import { contract, type Handlers } from './contract.ts';
import { parseDuration } from './duration.ts';
import { connectContract, ContractError, serveContract, type Port } from './port.ts';
import { callsOf } from './schema.ts';
import { searchOff } from './search.ts';
import type { Slices, Status } from './values.ts';

const status: Status = {
  version: '0.1.0', pid: 7, headless: true,
  stores: { mail: { state: 'off', on: false, position: null }, messages: { state: 'off', on: false, position: null } },
  clients: 0, waiting: 0, streams: 0, pausedUntil: null, uptimeSeconds: 1, counters: {}, settingsSentence: null, seal: 'none', lastEventAt: null, search: searchOff,
};
const unread = { state: 'unknown', everRead: false, version: null } as const;

/** A small engine: the real policy behind the calls, so that its values are held to the schema too. */
function handlersOver(folder: string): Handlers {
  const { policy } = policyIn(folder);
  const slices = (): Slices => {
    const { events, senders, waiting, settings, pausedUntil } = structuredClone(policy.snapshot()) as unknown as Slices;
    return {
      status,
      events: events.map(({ type, on }) => ({
        type, on, sourceOpen: null, accounts: null, readAt: null, mailboxes: null, allowed: senders.length, usedBy: [], deliveredToday: 0, lastAt: null,
      })),
      senders: senders.map((rule) => ({ ...rule, display: rule.value, lastAt: null })),
      clients: [], tokens: [], waiting, settings, pausedUntil,
      access: { mail: unread, messages: unread, checkedAt: null },
      chats: [],
      watches: [],
      http: { state: 'off', port: null, url: null, sentence: null },
      search: searchOff,
      hosts: [...policy.snapshot().hosts], webhooks: [],
    };
  };
  return {
    app: { snapshot: slices, busy: () => ({ answering: 0 }) },
    events: { list: () => slices().events, set: ({ type, on }) => policy.setEvent(type, on), catalogue: () => [], mailboxes: () => [], setMailboxes: () => policy.resume() },
    access: { probe: () => slices().access },
    senders: {
      list: () => slices().senders,
      check: () => [],
      add: ({ senders, options }) => policy.addSenders(senders, options),
      set: ({ sender, patch }) => policy.setSender(sender, patch),
      remove: ({ senders }) => policy.removeSenders(senders),
      undo: () => policy.undoRemoval(),
      suggest: () => [],
      backtest: async () => { throw new Error('/Users/ada/Library/Mail'); },
    },
    chats: { find: () => [], add: () => policy.resume(), remove: () => policy.resume() },
    clients: {
      list: () => [], waiting: () => slices().waiting,
      answer: ({ id, accept, options }) => policy.answer(id, accept, options),
      allow: ({ id, options }) => policy.allowClient(id, options),
      deny: ({ id }) => policy.denyClient(id), revoke: ({ id }) => policy.revokeClient(id), test: () => [],
    },
    tokens: { list: () => [], create: ({ label, options }) => policy.change({ do: 'create-token', label, options }), revoke: ({ id }) => policy.revokeToken(id) },
    excluded: { list: () => [], places: () => ({ readable: false, accounts: [], gone: [] }), add: () => policy.resume(), remove: () => policy.resume() },
    hosts: { list: () => [...policy.snapshot().hosts], add: ({ hosts }) => policy.addHosts(hosts), remove: ({ hosts }) => policy.removeHosts(hosts) },
    webhooks: { list: () => [], stop: () => ({ ok: false, code: 'unknown', message: 'No.' }) },
    watches: {
      list: () => [], add: () => ({ ok: false, code: 'invalid', message: 'No.' }), stop: () => ({ ok: false, code: 'unknown', message: 'No.' }), setInbox: () => ({ ok: false, code: 'unknown', message: 'No.' }),
    },
    search: { status: () => searchOff, deadLetters: () => [], rebuild: () => policy.resume() },
    live: { subscribe: () => ({ rows: [] }), unsubscribe: () => null },
    activity: { recent: () => [], export: () => '' },
    settings: {
      get: () => slices().settings, set: ({ key, value }) => policy.setSetting(key, value),
      export: () => '{}', import: () => policy.resume(), reset: () => policy.resume(), answerSeal: () => policy.resume(),
    },
    pause: { get: () => policy.pausedUntil, start: ({ ms }) => policy.pause(ms), resume: () => policy.resume() },
    status: { get: () => ({ ...status, pid: 'seven' as unknown as number }) },
    diagnostics: { run: () => [] },
  };
}

function channelPorts(): [Port, Port, () => void] {
  const { port1, port2 } = new MessageChannel();
  const end = (port: typeof port1): Port => ({
    postMessage: (value) => port.postMessage(value),
    onMessage: (listener) => {
      port.on('message', listener);
      return () => port.off('message', listener);
    },
  });
  return [end(port1), end(port2), () => port1.close()];
}

describe.each([['memory', (): ReturnType<typeof channelPorts> => [...memoryPorts(), () => undefined]], ['MessageChannel', channelPorts]] as const)('over %s', (_name, makePorts) => {
  const closers: (() => void)[] = [];
  afterEach(() => closers.splice(0).forEach((close) => close()));

  function join() {
    const folder = tempFolder();
    const [near, far, closePorts] = makePorts();
    const faults: string[] = [];
    const server = serveContract(contract, far, handlersOver(folder.path), (call) => faults.push(call));
    const ui = connectContract(contract, near);
    closers.push(() => {
      ui.close();
      server.close();
      closePorts();
      folder.remove();
    });
    return { near, ui, server, faults };
  }

  test('calls are answered and change the state', async () => {
    const { ui } = join();
    expect(await ui.call.events.set({ type: 'mail.received', on: true })).toEqual({ ok: true, changed: true, sentence: 'New mail is on.' });
    expect(await ui.call.senders.add({ senders: ['@example.org'], options: { subdomains: true } })).toMatchObject({ ok: true });
    const snapshot = await ui.call.app.snapshot({});
    expect(snapshot.events[0]).toMatchObject({ type: 'mail.received', on: true });
    expect(snapshot.senders).toMatchObject([{ kind: 'domain', value: 'example.org', subdomains: true, lastAt: null }]);
    expect(await ui.call.live.unsubscribe({})).toBeNull();
  });

  test('a refusal of policy is a value', async () => {
    const { ui } = join();
    expect(await ui.call.clients.allow({ id: '0123abcd', options: {} })).toMatchObject({ ok: false, code: 'unknown' });
  });

  test('bad params, unknown calls, failing handlers and bad results are errors with a sentence', async () => {
    const { ui, near, faults } = join();
    await expect(ui.call.events.set({ type: 'calendar' as 'mail.received', on: true })).rejects.toMatchObject({ code: 'invalid_params', message: expect.stringMatching(/^events\.set: type /) });
    await expect(ui.call.app.snapshot({ a: 1 } as never)).rejects.toMatchObject({ code: 'invalid_params', message: 'app.snapshot: unknown parameter "a".' });
    await expect(ui.call.senders.backtest({ sender: 'a@x.example', subdomains: false, for: 'mail', examples: 3 }))
      .rejects.toMatchObject({ code: 'failed', message: 'Belfry could not do this. The log says more.' });
    expect(faults).toEqual(['senders.backtest']);
    await expect(ui.call.status.get({})).rejects.toMatchObject({ code: 'invalid_result' });
    const answered = new Promise((resolve) => near.onMessage(resolve));
    near.postMessage({ call: '__proto__.toString', id: 999, params: {} });
    expect(await answered).toEqual({ id: 999, ok: false, error: { code: 'unknown_call', message: 'There is no call "__proto__.toString".' } });
  });

  test('what is no message is ignored', async () => {
    const { ui, near } = join();
    for (const junk of [null, 1, 'x', [], {}, { call: 1 }, { id: 1, ok: true }, { notify: 'other' }]) near.postMessage(junk);
    expect(await ui.call.pause.get({})).toBeNull();
  });

  test('notifications arrive checked, until the listener leaves', async () => {
    const { ui, server } = join();
    const heard: unknown[] = [];
    const stop = ui.on('changed', (value) => heard.push(value));
    server.notify('changed', { pausedUntil: 'resumed' });
    server.notify('changed', { pausedUntil: 'never' as 'resumed' });
    await ui.call.pause.get({});
    stop();
    server.notify('changed', { pausedUntil: null });
    await ui.call.pause.get({});
    expect(heard).toEqual([{ pausedUntil: 'resumed' }]);
  });

  test('closing fails what is under way', async () => {
    const { ui } = join();
    const call = ui.call.app.snapshot({});
    ui.close();
    await expect(call).rejects.toBeInstanceOf(ContractError);
    await expect(ui.call.app.snapshot({})).rejects.toMatchObject({ code: 'closed' });
  });
});

test('the groups of the contract', () => {
  expect([...new Set([...callsOf(contract).keys()].map((name) => name.split('.')[0]))]).toEqual([
    'app', 'events', 'access', 'senders', 'chats', 'clients', 'tokens', 'excluded', 'watches', 'search', 'hosts', 'webhooks', 'live', 'activity', 'settings', 'pause', 'status', 'diagnostics',
  ]);
});

test.each([['90s', 90_000], ['15m', 900_000], ['2h', 7_200_000], ['1d', 86_400_000], ['', null], ['0s', null], ['1', null], ['-1s', null], ['1w', null], ['1.5h', null], ['1h30m', null]])(
  'duration %s', (text, ms) => expect(parseDuration(text)).toBe(ms));
