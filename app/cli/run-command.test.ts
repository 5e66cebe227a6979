import { expect, test } from 'vitest';
import { searchOff } from '../contract/search.ts';
import type { Status, WaitingRow, WatchRow, WebhookRow } from '../contract/values.ts';
import { Policy } from '../policy/policy.ts';
import { client, policyIn } from '../policy/testing.ts';
import { tempFolder } from '../testing/temp.ts';
import { runCommand, type CommandContext, type EngineApi } from './run-command.ts';

const ID = '0123abcd';
const WATCH: WatchRow = {
  id: '89abcdef', client: ID, type: 'mail.received', senders: 2, source: 'tool', state: 'waiting-for-owner', waiting: 3, sent: 1, confirmed: 9, dropped: 0, gap: false, inbox: null, problem: null, createdAt: 1,
};
const HEADLESS: CommandContext = { headless: true, isOwnerConsole: false };
const PEER: CommandContext = { headless: false, isOwnerConsole: false };
const OWNER: CommandContext = { headless: false, isOwnerConsole: true };

const WEBHOOK: WebhookRow = {
  id: 'sub_0123456789abcdef0123456789abcdef', client: '0a1b2c3d', type: 'mail.received', senders: 2, host: 'hooks.example.net', state: 'retrying', lastError: 'timeout',
  failedSince: 1, failures: 2, lastDeliveryAt: null, delivered: 4, givenUp: 0, expiresAt: null, createdAt: 0,
};

const status: Status = {
  version: '0.1.0', pid: 7, headless: true,
  stores: { mail: { state: 'readable', on: true, position: 12 }, messages: { state: 'off', on: false, position: null } },
  clients: 1, waiting: 0, streams: 2, pausedUntil: null, uptimeSeconds: 3700, counters: {}, settingsSentence: null, seal: 'none', lastEventAt: null,
  search: {
    ...searchOff, phase: 'building', since: 0, encrypted: true, indexed: 750, total: 1000, pending: 250, perSecond: 1234.5, deadLetters: [{ reason: 'the file has no right byte count', count: 2 }],
    bytes: 2_500_000, textBytes: 3_000_000,
  },
};

const DEAD_LETTERS = [{ reason: 'the file has no right byte count', count: 2, mails: [{ row: 12, mailbox: 'iCloud/INBOX', date: 86_400_000 }, { row: 9, mailbox: null, date: null }] }];

const SEND: WaitingRow = {
  kind: 'send', id: 'message-0123456789ab', since: 0, expiresAt: 600_000, client: ID, clientName: '"cursor"', sentence: '"cursor" would like to send a message to Ada', text: 'On my way\nin 5',
  chat: { id: 'any;-;+15550101234', name: 'Ada', isGroup: false, members: ['Ada'], memberCount: 1, service: 'iMessage' },
};

function setUp(): { policy: Policy; api: EngineApi } & Disposable {
  const folder = tempFolder();
  const { policy } = policyIn(folder.path);
  policy.seen(client(ID), 'cursor');
  const api: EngineApi = {
    version: '0.1.0',
    snapshot: () => policy.snapshot(),
    widens: (change) => policy.widens(change),
    change: (change) => policy.change(change),
    request: (change) => policy.request(change),
    chats: () => policy.snapshot().chats.map((id) => ({ id, name: 'Family', isGroup: true, participants: 3, lastAt: null })),
    status: () => status,
    rebuildSearch: () => ({ ok: true, changed: true, sentence: 'The index is made anew.' }),
    deadLetters: () => DEAD_LETTERS,
    watches: () => [WATCH],
    stopWatch: (id) => (id === WATCH.id ? { ok: true, changed: true, sentence: `Watch ${id} is stopped.` } : { ok: false, code: 'unknown', message: 'No watch has this id.' }),
    webhooks: () => [WEBHOOK],
    stopWebhook: (id) => (id === WEBHOOK.id ? { ok: true, changed: true, sentence: 'The webhook is stopped.' } : { ok: false, code: 'unknown', message: 'No webhook has this id.' }),
    doctor: async () => [{ id: 'mail', title: 'Mail', state: 'problem', evidence: 'file not found', fix: 'Open Mail once.' }],
    excluded: () => [],
    waiting: () => [SEND],
    answer: async (id, accept) => (id === SEND.id ? { ok: true, changed: true, sentence: accept ? 'Sent.' : 'Not allowed.' } : { ok: false, code: 'unknown', message: 'This request is no longer waiting.' }),
    testClient: async (id) => (id === ID ? [{ hop: 'engine', ok: true, sentence: 'The app sent it.' }] : null),
  };
  return { policy, api, [Symbol.dispose]: () => folder.remove() };
}

const run = async (api: EngineApi, line: string, context: CommandContext) => runCommand(line.split(' '), api, context);

test.each<[string, CommandContext, number, RegExp]>([
  ['events on mail.received', HEADLESS, 0, /^New mail is on\.\n$/],
  ['events on mail.received', OWNER, 0, /^New mail is on\.\n$/],
  ['events on mail.received', PEER, 2, /^belfry: This lets more through, so the owner has to allow it/],
  ['events off mail.received', PEER, 0, /^New mail is off already\.\n$/],
  ['senders add ada@example.com', PEER, 2, /Waiting for you/],
  ['senders add *', PEER, 3, /^belfry: "\*": /],
  ['senders add *', HEADLESS, 3, /^belfry: "\*": /],
  ['senders remove ada@example.com', PEER, 1, /not in the list/],
  [`clients allow ${ID}`, PEER, 2, /Waiting for you/],
  [`clients allow ${ID}`, HEADLESS, 0, /^"cursor" \(0123abcd\) is allowed\. Events: all\. Senders: all that are allowed\. Grants: none\.\n$/],
  ['clients allow ffffffff', HEADLESS, 3, /No client has the id "ffffffff"/],
  ['clients allow ffffffff', PEER, 3, /No client has the id "ffffffff"/],
  [`clients deny ${ID}`, PEER, 0, /is not allowed\.\n$/],
  ['tokens list', PEER, 0, /^No tokens\. "belfry tokens create LABEL" makes one\.\n$/],
  ['tokens create CI --grants mail', HEADLESS, 0, /^Token "CI" \([0-9a-f]{8}\) is made\. This is the only time that it is shown\.\nbelfry_[\w-]{43}\n$/],
  ['tokens create CI', OWNER, 0, /\nbelfry_[\w-]{43}\n$/],
  ['tokens create CI', PEER, 2, /^belfry: This lets more through, so the owner has to allow it: it is in Waiting for you\.\n$/],
  ['tokens create \u202e', HEADLESS, 3, /needs a name/],
  ['tokens revoke 0123abcd', PEER, 3, /No token has the id "0123abcd"/],
  [`clients revoke ${ID}`, PEER, 0, /is no longer allowed\.\n$/],
  [`clients test ${ID}`, PEER, 0, /^The app sent it\.\n$/],
  ['clients test ffffffff', PEER, 3, /No client/],
  ['waiting list', HEADLESS, 0, /^message-0123456789ab {2}"cursor" would like to send a message to Ada\n {2}To {6}Ada \(iMessage\)\n {2}\| On my way\n {2}\| in 5\n$/],
  ['waiting list', PEER, 0, /^message-0123456789ab {2}"cursor" would like to send a message to Ada\n$/],
  ['waiting allow message-0123456789ab', HEADLESS, 0, /^Sent\.\n$/],
  ['waiting allow message-0123456789ab', PEER, 2, /Only the owner can allow this, in Belfry's window\.$/m],
  ['waiting allow message-0123456789ab', OWNER, 0, /^Sent\.\n$/],
  ['waiting deny message-0123456789ab', PEER, 0, /^Not allowed\.\n$/],
  ['waiting deny message-0123456789ac', PEER, 3, /no longer waiting/],
  ['waiting allow message-0123456789ab --code 1234', HEADLESS, 3, /No sign-in with the id "message-01234567" waits any more/],
  [`clients allow ${ID} --code 1234`, HEADLESS, 3, /No sign-in with the id "0123abcd" waits any more/],
  ['waiting allow', HEADLESS, 3, /Name the request by its id/],
  ['pause', PEER, 0, /^Paused until resumed\.\n$/],
  ['pause 900d', PEER, 3, /A pause lasts from 1 second to 366 days/],
  ['resume', PEER, 0, /^Not paused\.\n$/],
  ['settings set subjects off', PEER, 0, /^subjects is off\.\n$/],
  ['settings set backfill on', PEER, 2, /Waiting for you/],
  ['settings set ratePerHour 0', HEADLESS, 3, /^belfry: ratePerHour/],
  ['settings get', PEER, 0, /^subjects {10}on\nratePerHour {7}120\n/],
  ['events list', PEER, 0, /^mail\.received {6}off\nmessages\.received {2}off\n$/],
  ['senders list', PEER, 0, /^No senders yet\./],
  ['senders add chat:iMessage;+;chat1', PEER, 2, /Waiting for you/],
  ['senders add chat:iMessage;+;chat1', HEADLESS, 0, /^Allowed everyone in 1 chat\.\n$/],
  ['senders remove chat:iMessage;+;chat1', PEER, 1, /not in the list/],
  ['clients list', PEER, 0, /^0123abcd {2}not decided {2}"cursor" {2}\/opt\/0123abcd, not signed\n$/],
  ['status', PEER, 0, /Mail {6}on, readable, at row 12\nMessages {2}off\n/],
  ['doctor', PEER, 1, /^\(x\) {2}Mail {2}file not found\. Open Mail once\.\n$/],
  ['search status', PEER, 0, /^Index {6}building, 750 of 1000 mails\nSince {6}1970-01-01T00:00:00\.000Z\nFile {7}encrypted\nMails {6}750 of 1000, 250 pending, 1235 a second\nSize {7}2\.5 MB for 3\.0 MB of text\nCompared {3}not yet\nNot whole {2}2: 2 the file has no right byte count\n {11}the file has no right byte count:\n {13}row 12, iCloud\/INBOX, 1970-01-02\n {13}row 9, mailbox not known, no date\n$/],
  ['search rebuild', PEER, 0, /^The index is made anew\.\n$/],
  ['hosts list', PEER, 0, /^No hosts, so webhooks are off\.\n$/],
  ['hosts add hooks.example.net', PEER, 2, /Waiting for you/],
  ['hosts add 10.0.0.1', PEER, 3, /^belfry: "10\.0\.0\.1" is an address: name the host\.\n$/],
  ['hosts add Hooks.Example.net:443 hooks.example.net', HEADLESS, 0, /^Webhooks may go to hooks\.example\.net\.\n$/],
  ['hosts add', HEADLESS, 3, /Name at least one host/],
  ['hosts remove hooks.example.net', PEER, 1, /No such host is listed/],
  ['webhooks list', PEER, 0, /^sub_\w{32} {2}0a1b2c3d {2}mail\.received {2}2 senders {2}hooks\.example\.net {2}retrying {2}4 delivered, timeout\n$/],
  ['webhooks stop sub_0123456789abcdef0123456789abcdef', PEER, 0, /^The webhook is stopped\.\n$/],
  ['webhooks stop x', PEER, 3, /No webhook has this id/],
  ['--version', PEER, 0, /^0\.1\.0\n$/],
  ['--help', PEER, 0, /^Usage: belfry COMMAND/],
])('%s', async (line, context, code, text) => {
  using it = setUp();
  const result = await run(it.api, line, context);
  expect(result.code).toBe(code);
  const isError = result.stderr !== '';
  expect(isError ? result.stderr : result.stdout).toMatch(text);
  expect(isError ? result.stdout : result.stderr).toBe('');
});

test.each<[string, CommandContext, number, object]>([
  ['search status --json', PEER, 0, { version: 1, ok: true, search: { ...status.search, deadLetters: DEAD_LETTERS } }],
  ['status --json', PEER, 0, { version: 1, ok: true, status }],
  ['events list --json', PEER, 0, { version: 1, ok: true, events: [{ type: 'mail.received', on: false }, { type: 'messages.received', on: false }] }],
  ['events on mail.received --json', HEADLESS, 0, { version: 1, ok: true, changed: true, message: 'New mail is on.' }],
  ['events on mail.received --json', PEER, 2, { version: 1, ok: false, error: { code: 'waiting', message: expect.any(String) } }],
  ['events on calendar --json', PEER, 3, { version: 1, ok: false, error: { code: 'usage', message: expect.any(String) } }],
  ['senders list --json', PEER, 0, { version: 1, ok: true, senders: [], chats: [] }],
  ['settings get subjects --json', PEER, 0, { version: 1, ok: true, settings: { subjects: true } }],
  ['watches list --json', PEER, 0, { version: 1, ok: true, watches: [WATCH] }],
  // Narrowing acts at once, whoever asks.
  ['watches stop 89ABCDEF --json', PEER, 0, { version: 1, ok: true, changed: true, message: 'Watch 89abcdef is stopped.' }],
  ['watches stop 00000000 --json', PEER, 3, { version: 1, ok: false, error: { code: 'unknown', message: 'No watch has this id.' } }],
  ['colours --json', PEER, 3, { version: 1, ok: false, error: { code: 'usage', message: 'Unknown command "colours". See "belfry --help".' } }],
  ['--json --version', PEER, 0, { version: 1, ok: true, belfry: '0.1.0' }],
])('%s', async (line, context, code, value) => {
  using it = setUp();
  const result = await run(it.api, line, context);
  expect([result.code, result.stderr]).toEqual([code, '']);
  expect(JSON.parse(result.stdout)).toEqual(value);
});

test('who allows a client reads what it may now, since that replaces what it might before; the list says it too', async () => {
  using it = setUp();
  const say = async (line: string) => (await run(it.api, line, HEADLESS)).stdout;
  expect(await say(`clients allow ${ID} --grants mail,messages,reply`)).toBe('"cursor" (0123abcd) is allowed. Events: all. Senders: all that are allowed. Grants: mail, messages, reply.\n');
  expect(await say(`clients allow ${ID} --grants search`)).toBe('"cursor" (0123abcd) is allowed. Events: all. Senders: all that are allowed. Grants: search.\n');
  expect(await say(`clients allow ${ID} --events mail.received --senders @example.org,ada@x.example,12345 --grants none`)).toBe(
    '"cursor" (0123abcd) is allowed. Events: mail.received. Senders: @example.org, ada@x.example, 12345. Grants: none.\n');
  expect(await say('clients list')).toBe('0123abcd  allowed  "cursor"  /opt/0123abcd, not signed, events mail.received, senders @example.org ada@x.example 12345\n');
  expect(await say(`clients allow ${ID} --senders ${[1, 2, 3, 4, 5, 6, 7].map((nth) => `a${nth}@x.example`).join(',')}`)).toContain('a5@x.example and 2 more. Grants');
  const { message } = JSON.parse(await say(`clients allow ${ID} --once --grants mail --json`)) as { message: string };
  expect(message).toMatch(/ends\. Events: all\. .* Grants: mail\.$/);
});

test('a peer that shortens a pause only asks for it', async () => {
  using it = setUp();
  expect((await run(it.api, 'pause 2h', PEER)).code).toBe(0);
  expect((await run(it.api, 'pause 1s', PEER)).code).toBe(2);
  expect((await run(it.api, 'resume', PEER)).code).toBe(2);
  expect(it.policy.pausedUntil).not.toBeNull();
});

test('senders list shows chats with their names', async () => {
  using it = setUp();
  await run(it.api, 'senders add ada@x.example', HEADLESS);
  await run(it.api, 'senders add chat:iMessage;+;chat1', HEADLESS);
  const { stdout } = await run(it.api, 'senders list', PEER);
  expect(stdout.split('\n').map((line) => line.split(/ {2,}/))).toEqual([
    ['ada@x.example', 'address', 'mail and messages', 'on'], ['chat:iMessage;+;chat1', 'chat', 'messages', 'on', '"Family"'], [''],
  ]);
  expect((await run(it.api, 'senders remove chat:iMessage;+;chat1', PEER)).code).toBe(0);
});

test('twenty requests are enough', async () => {
  using it = setUp();
  for (let at = 0; at < 20; at++) await run(it.api, `senders add a${at}@x.example`, PEER);
  const result = await run(it.api, 'senders add last@x.example', PEER);
  expect([result.code, result.stderr]).toEqual([2, expect.stringMatching(/20 requests wait/)]);
  expect(it.policy.snapshot().senders).toEqual([]);
});

test('an engine that fails is a sentence without details', async () => {
  using it = setUp();
  const broken = { ...it.api, status: () => { throw new Error('/Users/ada/secret'); } };
  expect(await run(broken, 'status', PEER)).toEqual({ code: 1, stdout: '', stderr: 'belfry: Belfry could not do this. The log says more.\n' });
});
