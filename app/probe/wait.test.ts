import { expect, test } from 'vitest';
import { batch, descriptor, discovered, occurrence, probe, probeUntilLate, ScriptedServer, type Call, type Script } from '../testing/probe-kit.ts';
import { VirtualClock } from '../testing/virtual-clock.ts';

const WAIT = ['wait', '--event', 'job.done', '--json'];
const event = (call: Call, number: number, data: object = {}) => call.notify('notifications/events/event', { ...occurrence(number, data), cursor: `c${number}` });
const active = (call: Call, more: object = {}) => call.notify('notifications/events/active', { cursor: 'c0', truncated: false, ...more });
const streaming = (after: (call: Call) => void, more: Script = {}) => new ScriptedServer({
  'events/stream': (call) => {
    active(call);
    after(call);
  },
  ...more,
});
const failing = (code: number, message: string, data?: object): Script => ({ 'events/stream': (call) => call.fail(code, message, data) });
const sent = (server: ScriptedServer, method: string) => server.heard.filter((message) => message['method'] === method);

test('the position first, then the stream from it, then one poll from it; the stream is withdrawn at the end', async () => {
  const server = streaming((call) => setTimeout(() => event(call, 1), 50));
  const { code, json } = await probe([...WAIT, '--args', '{"from":["a@x.example"]}'], { server });
  expect(code).toBe(0);
  expect(server.methods()).toEqual(['server/discover', 'events/list', 'events/poll', 'events/stream', 'events/poll', 'notifications/cancelled']);
  const [bootstrap, reread] = sent(server, 'events/poll').map(({ params }) => params as Record<string, unknown>);
  expect([bootstrap!['cursor'], reread!['cursor']]).toEqual([undefined, 'c0']);
  const [stream] = sent(server, 'events/stream');
  expect(stream!['params']).toMatchObject({ name: 'job.done', cursor: 'c0', arguments: { from: ['a@x.example'] } });
  expect(sent(server, 'notifications/cancelled')[0]!['params']).toEqual({ requestId: stream!['id'] });
  expect(json).toMatchObject({
    version: 1, ok: true, error: null, era: '2026-07-28', eventFound: true, eventName: 'job.done', argumentsHonored: true, initialCursor: 'c0', route: 'event', streamActive: true,
    eventReceived: true, eventCount: 1, truncated: false, closeReason: 'local', errorCode: null, event: occurrence(1), earlierEvents: [], finalCursor: 'c1',
  });
});

test('the lines stand in their fixed order, whatever comes of it', async () => {
  const order = [
    'era', 'capabilities', 'event-found', 'event-name', 'arguments-honored', 'initial-cursor', 'route', 'stream-active', 'event-received', 'event-count', 'truncated', 'close-reason',
    'error-code', 'event', 'final-cursor', 'phase-summary',
  ];
  const good = await probe(WAIT.slice(0, -1), { server: streaming((call) => event(call, 1)) });
  expect(good.keys).toEqual(order);
  const bad = await probe(WAIT.slice(0, -1), { server: new ScriptedServer(failing(-32024, 'Forbidden', { reason: 'approval' })) });
  expect(bad.keys).toEqual(order.flatMap((key) => (key === 'error-code' ? ['recommended-next-action', key] : [key])));
  expect(bad.code).toBe(2);
});

test('success and failure have the same members', async () => {
  const all = await Promise.all([
    probe(WAIT, { server: streaming((call) => event(call, 1)) }),
    probe(WAIT, { server: new ScriptedServer(failing(-32603, 'x')) }),
    probe([...WAIT, '--count', 'many']),
    probe([...WAIT, '--timeout-ms', '100'], { server: new ScriptedServer({ 'server/discover': () => undefined }) }),
  ]);
  expect(all.map(({ json }) => Object.keys(json).sort().join())).toEqual(Array(4).fill(Object.keys(all[0].json).sort().join()));
  expect(all.map(({ json }) => json['ok'])).toEqual([true, false, false, false]);
});

test('what came before the subscription is found by the poll after it, once, and the position lies right behind it', async () => {
  const all = [1, 2, 3].map((number) => occurrence(number, { kind: number === 2 ? 'wanted' : 'other' }));
  const server = new ScriptedServer({
    'events/poll': (call) => {
      const { cursor, maxEvents } = call.params;
      if (cursor === undefined) return call.answer(batch([], 'c0'));
      const events = all.slice(0, maxEvents as number);
      return call.answer(batch(events, `c${events.length}`, { hasMore: events.length < 3 }));
    },
  });
  const one = await probe([...WAIT, '--cursor', 'c0'], { server });
  expect(one.json).toMatchObject({ route: 'backlog', eventCount: 1, event: { eventId: 'e1' }, finalCursor: 'c1' });
  const wanted = await probe([...WAIT, '--cursor', 'c0', '--until', 'kind=wanted'], { server });
  expect(wanted.json).toMatchObject({ route: 'backlog', eventCount: 1, event: { eventId: 'e2' }, finalCursor: 'c2' });
  const two = await probe([...WAIT, '--cursor', 'c0', '--count', '2'], { server });
  expect(two.json).toMatchObject({ route: 'backlog', eventCount: 2, earlierEvents: [{ eventId: 'e1' }], event: { eventId: 'e2' }, finalCursor: 'c2' });
});

test('an event that the poll and the stream both bring counts once', async () => {
  let stream: Call | null = null;
  const server = new ScriptedServer({
    'events/stream': (call) => {
      stream = call;
      active(call);
    },
    'events/poll': (call) => {
      if (call.params['cursor'] === undefined) return call.answer(batch([], 'c0'));
      call.answer(batch([occurrence(1)], 'c1'));
      event(stream!, 1);
      return event(stream!, 2);
    },
  });
  const { json } = await probe([...WAIT, '--count', '2'], { server });
  expect(json).toMatchObject({ eventCount: 2, earlierEvents: [{ eventId: 'e1' }], event: { eventId: 'e2' }, finalCursor: 'c2' });
});

test('--until passes over what does not fit; the same stream stays open', async () => {
  const server = streaming((call) => [1, 2, 3].forEach((number) => event(call, number, { from: { address: number === 3 ? 'ada@x.example' : 'bob@x.example' } })));
  const { json } = await probe([...WAIT, '--until', 'from.address=ada@x.example'], { server });
  expect(json).toMatchObject({ eventCount: 1, event: { eventId: 'e3' }, finalCursor: 'c3' });
  expect(sent(server, 'events/stream')).toHaveLength(1);
});

test.each([
  ['count=3', { count: 3 }], ['done=true', { done: true }], ['who=null', { who: null }], ['a.b.c=x=y', { a: { b: { c: 'x=y' } } }],
])('--until %s compares numbers, booleans and null by their JSON', async (until, data) => {
  const { code } = await probe([...WAIT, '--until', until], { server: streaming((call) => event(call, 1, data)) });
  expect(code).toBe(0);
});

test('time that is up is exit 1, with the newest position to go on from', async () => {
  const server = streaming((call) => call.notify('notifications/events/heartbeat', { cursor: 'c7' }));
  const { code, json } = await probeUntilLate(WAIT, server, 'events/poll', 2);
  expect(code).toBe(1);
  expect(json).toMatchObject({ route: 'timeout', errorCode: 'EVENT_TIMEOUT', finalCursor: 'c7', closeReason: 'local', eventReceived: false });
  expect(sent(server, 'notifications/cancelled')).toHaveLength(1);
});

test.each([
  { name: 'a client that waits for the owner', error: { code: -32024, message: 'Forbidden', data: { reason: 'approval' } }, expected: [2, 'CLIENT_NOT_APPROVED'] },
  { name: 'a store without permission', error: { code: -32603, message: 'no', data: { reason: 'not_permitted' } }, expected: [2, 'FDA_MISSING'] },
  { name: 'a store that is not there', error: { code: -32603, message: 'no', data: { reason: 'not_there' } }, expected: [3, 'SOURCE_UNAVAILABLE'] },
])('$name keeps the stream open; only at the end it is the reason', async ({ error, expected }) => {
  const held = await probeUntilLate(WAIT, streaming((call) => call.notify('notifications/events/error', { error })), 'events/poll', 2);
  expect([held.code, held.json['errorCode']]).toEqual(expected);
  expect(held.stderr).toMatch(/\(\w+\); the stream stays open and goes on by itself\./);
  const freed = await probe(WAIT, { server: streaming((call) => {
    call.notify('notifications/events/error', { error });
    event(call, 1);
  }) });
  expect(freed.code).toBe(0);
  const quiet = await probeUntilLate(WAIT, streaming((call) => {
    call.notify('notifications/events/error', { error });
    call.notify('notifications/events/heartbeat', { cursor: 'c9' });
  }), 'events/poll', 2);
  // A position that moves says that rows are looked at again.
  expect([quiet.code, quiet.json['errorCode']]).toEqual([1, 'EVENT_TIMEOUT']);
});

test('a client that the owner decides on while it waits: no position by a poll, a stream that is held, and then the event', async () => {
  const undecided: Script = { 'events/poll': (call) => call.fail(-32024, 'Forbidden', { reason: 'approval' }) };
  const server = streaming((call) => {
    call.notify('notifications/events/error', { error: { code: -32024, message: 'Forbidden', data: { reason: 'approval' } } });
    setTimeout(() => event(call, 1), 100);
  }, undecided);
  expect((await probe(WAIT, { server })).json).toMatchObject({ ok: true, initialCursor: 'c0', route: 'event', finalCursor: 'c1' });
  expect((await probe([...WAIT, '--cursor', 'c0'], { server })).json).toMatchObject({ ok: true, route: 'event' });
});

test.each<[string, Script, number, string]>([
  ['approval', failing(-32024, 'Forbidden', { reason: 'approval' }), 2, 'CLIENT_NOT_APPROVED'],
  ['a refusal', failing(-32024, 'Forbidden', { reason: 'The owner does not allow this client' }), 2, 'FORBIDDEN'],
  ['no such event', failing(-32023, 'NotFound', { kind: 'event' }), 3, 'EVENT_NOT_FOUND'],
  ['no push after all', failing(-32026, 'Unsupported', { feature: 'deliveryMode', value: 'push' }), 3, 'MODE_NOT_OFFERED'],
  ['a full quota', failing(-32025, 'ResourceExhausted', { limit: 'streams', max: 10 }), 2, 'LIMIT_REACHED'],
  ['arguments', failing(-32602, 'arguments.from: must hold an address'), 3, 'INVALID_ARGS'],
  ['a fault of the server', failing(-32603, 'Belfry met an unexpected fault'), 3, 'SERVER_ERROR'],
  ['an engine that restarts', failing(-32603, 'x', { reason: 'engine_restarted' }), 3, 'APP_NOT_RUNNING'],
  ['another code', failing(-31999, 'x'), 3, 'SERVER_ERROR'],
  ['events that are off', { 'server/discover': (call) => call.answer(discovered({ tools: {} })) }, 2, 'EVENT_DISABLED'],
  ['an event that is not listed', { 'events/list': (call) => call.answer({ events: [descriptor('other')] }) }, 3, 'EVENT_NOT_FOUND'],
  ['the end of the subscription', { 'events/stream': (call) => {
    active(call);
    call.notify('notifications/events/terminated', { error: { code: -32024, message: 'Forbidden', data: { reason: 'Access switched off' } } });
    call.answer({ resultType: 'complete' });
  } }, 4, 'STREAM_TERMINATED'],
  ['a clean end', { 'events/stream': (call) => {
    active(call);
    call.answer({ resultType: 'complete' });
  } }, 4, 'STREAM_DISCONNECTED'],
  ['a connection that breaks', { 'events/stream': (call) => {
    active(call);
    call.close();
  } }, 4, 'STREAM_DISCONNECTED'],
  ['a connection that breaks before it', { 'events/stream': (call) => call.close() }, 3, 'CONNECTION_CLOSED'],
  ['an event before active', { 'events/stream': (call) => event(call, 1) }, 3, 'PROTOCOL_VIOLATION'],
  ['a foreign message on the stream', { 'events/stream': (call) => {
    active(call);
    call.notify('notifications/progress');
  } }, 3, 'PROTOCOL_VIOLATION'],
  ['an event without an id', { 'events/stream': (call) => {
    active(call);
    call.notify('notifications/events/event', { name: 'job.done', timestamp: 'x', data: {} });
  } }, 3, 'PROTOCOL_VIOLATION'],
  ['an event of another type', { 'events/stream': (call) => {
    active(call);
    call.notify('notifications/events/event', { ...occurrence(1), name: 'other' });
  } }, 3, 'PROTOCOL_VIOLATION'],
  ['the id of the subscription as text', { 'events/stream': (call) => {
    active(call);
    call.send({ jsonrpc: '2.0', method: 'notifications/events/event', params: { ...occurrence(1), _meta: { 'io.modelcontextprotocol/subscriptionId': String(call.id) } } });
  } }, 3, 'PROTOCOL_VIOLATION'],
  ['a line that is not JSON', { 'events/stream': (call) => call.send('Server ready!') }, 3, 'BAD_RESPONSE'],
  ['a line that is no message', { 'events/stream': (call) => call.send('[]') }, 3, 'BAD_RESPONSE'],
])('%s', async (_name, script, code, errorCode) => {
  const { json, ...result } = await probe(WAIT, { server: new ScriptedServer(script) });
  expect([result.code, json['errorCode'], json['error'].code]).toEqual([code, errorCode, errorCode]);
  expect(json['recommendedNextAction'], 'every refusal has a next step').toMatch(/\w/);
});

test("a type of Belfry's own that is off is told from one that does not exist", async () => {
  const server = new ScriptedServer({ 'events/list': (call) => call.answer({ events: [] }) });
  const off = await probe(['wait', '--event', 'mail.received', '--json'], { server });
  expect([off.code, off.json['errorCode']]).toEqual([2, 'EVENT_DISABLED']);
  const skipped = await probe(['wait', '--event', 'mail.received', '--json', '--skip-list'], { server: new ScriptedServer({ 'events/poll': (call) => call.fail(-32023, 'NotFound', { kind: 'event' }) }) });
  expect([skipped.code, skipped.json['errorCode']]).toEqual([2, 'EVENT_DISABLED']);
});

test('a gap is shown, and with --fail-on-gap it is exit 5', async () => {
  const gap: Script = { 'events/stream': (call) => {
    active(call, { cursor: 'c40', truncated: true });
    event(call, 41);
  } };
  const shown = await probe([...WAIT, '--cursor', 'c1'], { server: new ScriptedServer(gap) });
  expect(shown).toMatchObject({ code: 0, json: { truncated: true, finalCursor: 'c41' } });
  const failed = await probe([...WAIT, '--cursor', 'c1', '--fail-on-gap'], { server: new ScriptedServer(gap) });
  expect(failed).toMatchObject({ code: 5, json: { truncated: true, errorCode: 'EVENT_GAP', finalCursor: 'c40' } });
  const later = await probe([...WAIT, '--fail-on-gap'], { server: streaming((call) => active(call, { cursor: 'c9', truncated: true })) });
  expect(later.code).toBe(5);
  const polled = await probe([...WAIT, '--cursor', 'c1', '--fail-on-gap'], { server: new ScriptedServer({ 'events/poll': (call) => call.answer(batch([], 'c9', { truncated: true })) }) });
  expect(polled.code).toBe(5);
});

test('the stream stands although the poll behind it is refused, and --skip-list finds out by itself that there is none', async () => {
  let polls = 0;
  const busy = streaming((call) => setTimeout(() => event(call, 1), 100), { 'events/poll': (call) => {
    polls += 1;
    return polls === 1 ? call.answer(batch([], 'c0')) : call.fail(-32603, 'busy', { reason: 'busy' });
  } });
  expect((await probe(WAIT, { server: busy })).json).toMatchObject({ ok: true, route: 'event' });
  const pushOnly = streaming((call) => event(call, 1), { 'events/poll': (call) => call.fail(-32026, 'Unsupported', { feature: 'deliveryMode', value: 'poll' }) });
  expect((await probe([...WAIT, '--skip-list'], { server: pushOnly })).json).toMatchObject({ ok: true, route: 'event' });
});

test('an event that is not pushed is polled for', async () => {
  let polls = 0;
  const server = new ScriptedServer({
    'events/list': (call) => call.answer({ events: [descriptor('job.done', ['poll'])] }),
    'events/poll': (call) => {
      polls += 1;
      if (polls === 3) return call.answer(batch([occurrence(1)], 'c1'));
      return call.answer(batch([], 'c0', { hasMore: polls === 2 }));
    },
  });
  const { code, json } = await probe(WAIT, { server });
  expect([code, json['route'], json['streamActive'], json['finalCursor']]).toEqual([0, 'poll', false, 'c1']);
  expect(server.methods()).not.toContain('events/stream');
});

test('an event that is only pushed is not polled for, and a missing position is none', async () => {
  const server = new ScriptedServer({
    'events/list': (call) => call.answer({ events: [descriptor('job.done', ['push'])] }),
    'events/stream': (call) => {
      call.notify('notifications/events/active', {});
      call.notify('notifications/events/event', occurrence(1));
    },
  });
  const { code, json } = await probe(WAIT, { server });
  expect([code, json['initialCursor'], json['finalCursor']]).toEqual([0, null, null]);
  expect(server.methods()).not.toContain('events/poll');
});

test('a stream that is silent for longer than two heartbeats is dead', async () => {
  const clock = new VirtualClock();
  const server = new ScriptedServer();
  const run = probe([...WAIT, '--timeout-ms', '600000'], { server, clock });
  await expect.poll(() => sent(server, 'events/poll').length, { timeout: 20_000 }).toBe(2);
  // Its answer is on the way to whoever waits for it.
  await new Promise((resolve) => setTimeout(resolve, 100));
  clock.advance(60_000);
  clock.advance(70_000);
  const { code, json } = await run;
  expect([code, json['errorCode']]).toEqual([4, 'STREAM_DISCONNECTED']);
});

test('--max-age goes along with a position and not without one', async () => {
  const server = streaming((call) => event(call, 1));
  await probe([...WAIT, '--max-age', '5000'], { server });
  expect(sent(server, 'events/stream')[0]!['params']).not.toHaveProperty('maxAgeMs');
  await probe([...WAIT, '--max-age', '5000', '--cursor', 'c0'], { server });
  expect(sent(server, 'events/stream')[1]!['params']).toHaveProperty('maxAgeMs', 5000);
});

test('words of messages are left out unless they are asked for', async () => {
  const data = { subject: 'Rota', text: 'the whole letter', from: { name: 'Ada', body: 'x' }, note: 'y'.repeat(600), empty: '', html: null };
  const server = streaming((call) => event(call, 1, data));
  const { json, stdout } = await probe(WAIT, { server });
  expect(json['event'].data).toEqual({
    id: 'e1', subject: 'Rota', text: '(16 characters, shown with --include-text)', from: { name: 'Ada', body: '(1 characters, shown with --include-text)' },
    note: '(600 characters, shown with --include-text)', empty: '', html: null,
  });
  expect(stdout).not.toContain('the whole letter');
  expect((await probe([...WAIT, '--include-text'], { server })).json['event'].data).toEqual({ id: 'e1', ...data });
});

test('a probe that is stopped says so and withdraws its stream', async () => {
  const stop = new AbortController();
  const server = streaming(() => setTimeout(() => stop.abort(), 50));
  const { code, json } = await probe([...WAIT, '--timeout-ms', '60000'], { server, interrupt: stop.signal });
  expect([code, json['errorCode']]).toEqual([1, 'INTERRUPTED']);
  expect(sent(server, 'notifications/cancelled')).toHaveLength(1);
});
