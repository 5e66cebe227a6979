import { expect, test } from 'vitest';
import { discovered, occurrence, probe, ScriptedServer } from '../testing/probe-kit.ts';
import { ProbeFailure } from './failure.ts';
import { blank, finish, safeJson, usage } from './report.ts';

/** C0, DEL, C1, bidi overrides, zero width, line separator, byte-order mark, tag letters. */
const HOSTILE = 'a\u001b[2J\u007f\u009b31m\u202egnp\u2066x\u200b\u2028\ufeff\u{e0041}z\nnew line';
// oxlint-disable-next-line no-control-regex -- what must not reach a terminal
const UNSAFE = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u200b\u202a-\u202e\u2028\u2029\u2066-\u2069\ufeff]|\udb40/u;

const hostile = new ScriptedServer({
  'server/discover': (call) => call.answer({ ...discovered(), capabilities: { [HOSTILE]: {}, tools: {}, extensions: { 'io.modelcontextprotocol/events': {} } } }),
  'events/poll': (call) => call.answer({ events: [occurrence(1, { subject: HOSTILE })], cursor: HOSTILE, truncated: false, hasMore: false, nextPollMs: 1 }),
  'tools/call': (call) => call.fail(-32000, HOSTILE),
});
const POLL = ['poll', '--event', 'job.done', '--cursor', 'c0'];

test('nothing of a server moves a terminal, in lines or in JSON, and JSON keeps the value', async () => {
  for (const words of [POLL, [...POLL, '--json'], ['call', '--tool', 'x'], ['call', '--tool', 'x', '--json']]) {
    const { stdout, stderr } = await probe(words, { server: hostile });
    expect(stdout + stderr).not.toMatch(UNSAFE);
  }
  const { json, keys } = await probe([...POLL, '--json'], { server: hostile });
  expect(json['events'][0].data.subject).toBe(HOSTILE);
  expect(json['finalCursor']).toBe(HOSTILE);
  expect(keys).toEqual([]);
  // A line end of the server's makes no line of ours.
  expect((await probe(POLL, { server: hostile })).stdout).not.toMatch(/^new line/m);
});

test('safe JSON is the same value to whoever parses it', () => {
  const value = { text: HOSTILE, list: [1, true, null, '\ud800'], 'key\u202e': 'x' };
  expect(JSON.parse(safeJson(value))).toEqual(JSON.parse(JSON.stringify(value)));
  expect(safeJson(value)).not.toMatch(UNSAFE);
});

test.each(['list', 'poll', 'wait', 'watch', 'call', 'channel', 'login', 'logout'] as const)('%s: the same members on success and on failure, version 1', (command) => {
  const good = JSON.parse(finish(command, blank(command), null, true).stdout) as Record<string, unknown>;
  const bad = JSON.parse(finish(command, blank(command), new ProbeFailure('SERVER_ERROR', 'no'), true).stdout) as Record<string, unknown>;
  expect(Object.keys(bad)).toEqual(Object.keys(good));
  expect(good).toMatchObject({ version: 1, ok: true, command, error: null, errorCode: null, recommendedNextAction: null });
  expect(bad).toMatchObject({ version: 1, ok: false, error: { code: 'SERVER_ERROR', message: 'no' }, errorCode: 'SERVER_ERROR' });
  // One report leaves nothing in the next.
  expect(finish(command, blank(command), null, false).exit).toBe(0);
});

test('the members that peers of this command have, by their names', () => {
  expect(Object.keys(blank('watch'))).toEqual(expect.arrayContaining([
    'route', 'serverUrl', 'resourceUri', 'listenAcknowledged', 'honoredUris', 'notificationReceived', 'notificationCount', 'closeReason', 'errorCode', 'initialText', 'finalText', 'recommendedNextAction',
  ]));
  expect(Object.keys(blank('call'))).toEqual(expect.arrayContaining(['serverUrl', 'tool', 'isError', 'errorCode', 'content', 'recommendedNextAction']));
});

test('a command line that is not understood has the shape of its action', () => {
  const report = JSON.parse(usage('watch', new ProbeFailure('INVALID_ARGS', 'no'))) as Record<string, unknown>;
  expect(report).toMatchObject({ command: 'watch', ok: false, route: 'failed', errorCode: 'INVALID_ARGS' });
  expect(JSON.parse(usage('__proto__', new ProbeFailure('INVALID_ARGS', 'no')))).toMatchObject({ command: 'list' });
});
