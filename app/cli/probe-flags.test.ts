import { expect, test } from 'vitest';
import type { ProbeRequest } from '../probe/request.ts';
import { parseLab } from './lab-flags.ts';
import { parseProbe, probeWords, type Env } from './probe-flags.ts';

const words = (line: string) => line.split(' ').filter((word) => word !== '');
const belfry = { kind: 'belfry', socket: null } as const;
const event = { event: 'e', args: {}, cursor: null, maxAgeMs: null };
const usual = { target: belfry, era: 'auto', timeoutMs: 15_000, login: false, json: false, includeText: false, skipList: false } as const;
const http = (url: string) => ({ kind: 'http', url: new URL(url) }) as const;

test.each<[string, Partial<ProbeRequest>, Env]>([
  ['list', { action: { do: 'list' } }, {}],
  ['list --json --era modern --timeout-ms 60000 --skip-list', { action: { do: 'list' }, json: true, era: 'modern', timeoutMs: 60_000, skipList: true }, {}],
  ['list --socket /s', { action: { do: 'list' }, target: { kind: 'belfry', socket: '/s' } }, {}],
  ['poll --event e', { action: { do: 'poll', ...event, max: null } }, {}],
  ['poll --event e --args {"from":["a"]} --cursor c --max 5 --max-age 1000 --include-text', { action: { do: 'poll', event: 'e', args: { from: ['a'] }, cursor: 'c', maxAgeMs: 1000, max: 5 }, includeText: true }, {}],
  ['wait --event e', { action: { do: 'wait', ...event, count: 1, until: null, failOnGap: false } }, {}],
  ['wait --event e --count 3 --until from.address=a=b --fail-on-gap', { action: { do: 'wait', ...event, count: 3, until: { path: ['from', 'address'], value: 'a=b' }, failOnGap: true } }, {}],
  ['watch --uri belfry://status --until access=', { action: { do: 'watch', uri: 'belfry://status', count: 1, until: { path: ['access'], value: '' } } }, {}],
  ['call --tool t --args {"a":1}', { action: { do: 'call', tool: 't', args: { a: 1 } } }, {}],
  ['channel --count 2', { action: { do: 'channel', count: 2 } }, {}],
  ['list --command node -- server.js --data-dir x', { action: { do: 'list' }, target: { kind: 'command', file: 'node', args: ['server.js', '--data-dir', 'x'] } }, {}],
  ['list --url https://mcp.example/mcp#part', { action: { do: 'list' }, target: http('https://mcp.example/mcp') }, {}],
  ['list --url https://mcp.example/mcp --login', { action: { do: 'list' }, target: http('https://mcp.example/mcp'), login: true, timeoutMs: 300_000 }, {}],
  ['--login --url https://mcp.example/mcp', { action: { do: 'login' }, target: http('https://mcp.example/mcp'), login: true, timeoutMs: 300_000 }, {}],
  ['--logout --url https://mcp.example/mcp', { action: { do: 'logout' }, target: http('https://mcp.example/mcp') }, {}],
  // Variables, and the flags that win over them.
  ['wait', { action: { do: 'wait', ...event, args: { from: ['v'] }, count: 1, until: null, failOnGap: false }, timeoutMs: 7, skipList: true, target: http('http://127.0.0.1:1/mcp') },
    { MCP_PROBE_URL: 'http://127.0.0.1:1/mcp', MCP_PROBE_EVENT: 'e', MCP_PROBE_ARGS: '{"from":["v"]}', MCP_PROBE_TIMEOUT_MS: '7', MCP_PROBE_SKIP_LIST: 'true' }],
  ['watch', { action: { do: 'watch', uri: 'u', count: 1, until: null } }, { MCP_PROBE_URI: 'u' }],
  ['wait --event e --args {} --timeout-ms 9', { action: { do: 'wait', ...event, count: 1, until: null, failOnGap: false }, timeoutMs: 9 }, { MCP_PROBE_EVENT: 'x', MCP_PROBE_ARGS: '{"a":1}', MCP_PROBE_TIMEOUT_MS: '7' }],
  ['list --socket /s', { action: { do: 'list' }, target: { kind: 'belfry', socket: '/s' } }, { MCP_PROBE_URL: 'http://127.0.0.1:1/mcp' }],
  ['list --command node', { action: { do: 'list' }, target: { kind: 'command', file: 'node', args: [] } }, { MCP_PROBE_URL: 'http://127.0.0.1:1/mcp' }],
])('%s', (line, expected, env) => {
  expect(parseProbe(words(line), env, false)).toEqual({ ok: true, request: { ...usual, ...expected } });
});

test.each<[string, string, string, Env?]>([
  ['', 'INVALID_ARGS', '"belfry probe" needs an action: list, poll, wait, watch, call, channel, lab.'],
  ['dance', 'INVALID_ARGS', '"belfry probe" has no action "dance"; it has list, poll, wait, watch, call, channel, lab.'],
  ['constructor', 'INVALID_ARGS', '"belfry probe" has no action "constructor"; it has list, poll, wait, watch, call, channel, lab.'],
  ['list more', 'INVALID_ARGS', '"more" is one word too many.'],
  ['list --count 2', 'INVALID_ARGS', 'Unknown option "--count".'],
  ['list --auth-token x', 'INVALID_ARGS', 'Unknown option "--auth-token".'],
  ['list --era old', 'INVALID_ARGS', '--era takes auto, modern or legacy.'],
  ['list --timeout-ms 0', 'INVALID_ARGS', '--timeout-ms takes a whole number of milliseconds from 1 to 86400000.'],
  ['list --timeout-ms soon', 'INVALID_ARGS', '--timeout-ms takes a whole number of milliseconds from 1 to 86400000.'],
  ['list', 'INVALID_ARGS', '--timeout-ms takes a whole number of milliseconds from 1 to 86400000.', { MCP_PROBE_TIMEOUT_MS: 'x' }],
  ['wait', 'INVALID_ARGS', 'Name the event with --event; "belfry probe list" shows the names.'],
  ['wait --event e --args [1]', 'INVALID_ARGS', '--args takes a JSON object'],
  ['wait --event e --args {', 'INVALID_ARGS', '--args takes a JSON object'],
  ['wait --event e --count 0', 'INVALID_ARGS', '--count takes a whole number from 1 to 1000.'],
  ['wait --event e --until x', 'INVALID_ARGS', '--until takes FIELD=VALUE'],
  ['wait --event e --until =x', 'INVALID_ARGS', '--until takes FIELD=VALUE'],
  ['wait --event e --max-age -1', 'INVALID_ARGS', '--max-age takes a whole number of milliseconds.'],
  ['poll --event e --max 0', 'INVALID_ARGS', '--max takes a whole number from 1 to 1000.'],
  ['watch', 'INVALID_ARGS', 'Name the resource with --uri'],
  ['call', 'TOOL_NAME_REQUIRED', 'Name the tool with --tool.'],
  ['list --url mcp.example', 'INVALID_URL', 'The address of the server is no whole URL.'],
  ['list --url ftp://mcp.example', 'INVALID_URL', 'The address of the server must start with https:// or http://.'],
  ['list --url https://ada:secret@mcp.example/', 'INVALID_URL', 'The address holds a name or a password'],
  ['list', 'INVALID_URL', 'The address of the server is no whole URL.', { MCP_PROBE_URL: 'x' }],
  ['list --url https://a.example --command node', 'INVALID_ARGS', '--command and --url exclude each other.'],
  ['list --socket /s --command node', 'INVALID_ARGS', '--socket names Belfry'],
  ['list --login', 'SERVER_URL_UNKNOWN', '--login needs the server: give --url.'],
  ['--logout', 'SERVER_URL_UNKNOWN', '--logout needs the server: give --url.'],
  ['list --logout --url https://a.example', 'INVALID_ARGS', '--logout stands alone'],
  ['--login --logout --url https://a.example', 'INVALID_ARGS', '--login and --logout exclude each other.'],
  ['list --login --url https://a.example', 'INVALID_ARGS', 'MCP_PROBE_AUTH_TOKEN is set', { MCP_PROBE_AUTH_TOKEN: 't' }],
])('refused: %s', (line, code, message, env = {}) => {
  const parsed = parseProbe(words(line), env, false);
  expect(parsed).toEqual({ ok: false, code, message: expect.stringContaining(message) });
  expect(JSON.stringify(parsed)).not.toContain('secret@');
});

test.each(['--command node', '--url https://a.example', '--socket /s', '--login', '--logout'])('not through the helper: %s', (flag) => {
  expect(parseProbe(words(`list ${flag}`), {}, true)).toMatchObject({ ok: false, message: expect.stringContaining("it would run or fetch with Belfry's disk access") });
});

test('flags may stand before the command', () => {
  expect(probeWords(words('--json probe list --era modern'))).toEqual(['list', '--json', '--era', 'modern']);
  expect(probeWords(words('--json probe --login'))).toEqual(['--json', '--login']);
  expect([probeWords(words('status')), probeWords(words('events probe')), probeWords([])]).toEqual([null, null, null]);
});

test('the laboratory takes its options from flags, then from variables', () => {
  const defaults = { port: 8089, path: '/mcp', delayMs: 5000, initialStatus: 'pending', updatedStatus: 'reviewed', steps: 1, listChanged: false };
  expect(parseLab([], {})).toEqual(defaults);
  expect(parseLab(words('--stdio'), {})).toEqual({ ...defaults, port: null });
  expect(parseLab(words('--port 0 --path /x/y --delay-ms 10 --initial-status a --updated-status b --steps 3 --list-changed'), {}))
    .toEqual({ port: 0, path: '/x/y', delayMs: 10, initialStatus: 'a', updatedStatus: 'b', steps: 3, listChanged: true });
  const env = { MCP_PROBE_LAB_PORT: '1', MCP_PROBE_LAB_PATH: '/e', MCP_PROBE_LAB_DELAY_MS: '2', MCP_PROBE_LAB_INITIAL_STATUS: 'c', MCP_PROBE_LAB_UPDATED_STATUS: 'd', MCP_PROBE_LAB_STEPS: '4', MCP_PROBE_LAB_LIST_CHANGED: 'true' };
  expect(parseLab([], env)).toEqual({ port: 1, path: '/e', delayMs: 2, initialStatus: 'c', updatedStatus: 'd', steps: 4, listChanged: true });
  expect(parseLab(words('--port 9'), env)).toMatchObject({ port: 9, path: '/e' });
});

test.each([
  ['--port 70000', '--port takes'], ['--path mcp', '--path takes'], ['--path /a?b', '--path takes'], ['--delay-ms 0', '--delay-ms takes'], ['--steps 0', '--steps takes'],
  ['--initial-status x --updated-status x', 'must differ'], ['now', 'one word too many'], ['--bogus', 'Unknown option'],
])('the laboratory refuses %s', (line, says) => {
  expect(parseLab(words(line), {})).toContain(says);
});
