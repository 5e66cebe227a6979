import { expect, test } from 'vitest';
import { parseCommand, type Command } from './commands.ts';
import { parseServe } from './serve-flags.ts';

const change = (value: Extract<Command, { do: 'change' }>['change']): Command => ({ do: 'change', change: value });
const words = (line: string) => line.split(' ').filter((word) => word !== '');

test.each<[string, Command]>([
  ['--help', { do: 'help' }],
  ['senders add --help', { do: 'help' }],
  ['help', { do: 'help' }],
  ['--version', { do: 'version' }],
  ['events list', { do: 'list', what: 'events' }],
  ['--data-dir D events --json list', { do: 'list', what: 'events' }],
  ['--socket /s events list', { do: 'list', what: 'events' }],
  ['events on mail.received', change({ do: 'set-event', type: 'mail.received', on: true })],
  ['events off messages.received', change({ do: 'set-event', type: 'messages.received', on: false })],
  ['senders list', { do: 'list', what: 'senders' }],
  ['senders add ada@example.com @example.org', change({ do: 'add-senders', senders: ['ada@example.com', '@example.org'], options: {} })],
  ['senders add x.example --for=mail --subdomains --except a@x.example,b@x.example --except c@x.example', change({
    do: 'add-senders', senders: ['x.example'], options: { for: 'mail', subdomains: true, except: ['a@x.example', 'b@x.example', 'c@x.example'] },
  })],
  ['senders add -- -odd@x.example', change({ do: 'add-senders', senders: ['-odd@x.example'], options: {} })],
  ['senders add chat:iMessage;+;chat1 chat:Family', change({ do: 'add-chats', chats: ['iMessage;+;chat1', 'Family'] })],
  ['senders remove chat:Family', change({ do: 'remove-chats', chats: ['Family'] })],
  ['senders remove +15550101234', change({ do: 'remove-senders', senders: ['+15550101234'] })],
  ['clients list', { do: 'list', what: 'clients' }],
  ['clients allow 0123abcd', change({ do: 'allow-client', id: '0123abcd', options: {} })],
  ['clients allow 0123ABCD --once --events mail.received --senders a@x.example,@y.example --grants mail,messages:everything', change({
    do: 'allow-client', id: '0123abcd', options: { once: true, events: ['mail.received'], senders: ['a@x.example', '@y.example'], grants: ['mail', 'messages:everything'] },
  })],
  ['clients allow 0123abcd --code 0042', change({ do: 'allow-client', id: '0123abcd', options: {}, code: '0042' })],
  ['waiting allow 0123abcd --code=0042', { do: 'answer', id: '0123abcd', accept: true, code: '0042' }],
  ['waiting deny 0123abcd', { do: 'answer', id: '0123abcd', accept: false }],
  ['clients allow 0123abcd --grants none', change({ do: 'allow-client', id: '0123abcd', options: { grants: [] } })],
  ['clients allow 0123abcd --events all --senders all', change({ do: 'allow-client', id: '0123abcd', options: { events: 'all', senders: 'all' } })],
  ['clients deny 0123abcd', change({ do: 'deny-client', id: '0123abcd' })],
  ['clients revoke 0123abcd', change({ do: 'revoke-client', id: '0123abcd' })],
  ['clients test 0123abcd', { do: 'test-client', id: '0123abcd' }],
  ['settings get', { do: 'settings', key: null }],
  ['settings get subjects', { do: 'settings', key: 'subjects' }],
  ['settings set subjects off', change({ do: 'set-setting', key: 'subjects', value: false })],
  ['settings set ratePerHour 60', change({ do: 'set-setting', key: 'ratePerHour', value: 60 })],
  ['settings set askNewClients off', change({ do: 'set-setting', key: 'askNewClients', value: false })],
  ['settings set region nl', change({ do: 'set-setting', key: 'region', value: 'NL' })],
  ['settings set region none', change({ do: 'set-setting', key: 'region', value: null })],
  ['pause', change({ do: 'pause', ms: null })],
  ['pause 90s', change({ do: 'pause', ms: 90_000 })],
  ['pause 15m', change({ do: 'pause', ms: 900_000 })],
  ['pause 2h', change({ do: 'pause', ms: 7_200_000 })],
  ['pause 1d', change({ do: 'pause', ms: 86_400_000 })],
  ['resume', change({ do: 'resume' })],
  ['status', { do: 'status' }],
  ['doctor --json', { do: 'doctor' }],
])('%s', (line, command) => {
  expect(parseCommand(words(line))).toEqual({ ok: true, command, json: line.includes('--json') });
});

const KEYS = 'subjects, ratePerHour, backfill, keepSendersDays, indexOnBattery, fetchThroughMail, hideCodes, askNewClients, http, httpPort, region';

test.each<[string, string]>([
  ['', 'Say what to do. See "belfry --help".'],
  ['frobnicate', 'Unknown command "frobnicate". See "belfry --help".'],
  ['__proto__', 'Unknown command "__proto__". See "belfry --help".'],
  ['serve', '"serve" starts an engine: it is run on its own, as "belfry serve".'],
  ['events', '"belfry events" needs an action: list, on, off.'],
  ['events toggle', '"belfry events" has no action "toggle"; it has list, on, off.'],
  ['events on', 'Name the event: mail.received or messages.received.'],
  ['events on mail', 'There is no event "mail"; there is mail.received or messages.received.'],
  ['events on mail.received twice', '"twice" is one word too many. See "belfry --help".'],
  ['events list more', '"more" is one word too many. See "belfry --help".'],
  ['events list --once', 'Unknown option "--once". Known here: --json, --data-dir, --socket.'],
  ['senders add', 'Name at least one sender: an address, a domain or a number.'],
  ['senders add a@x.example --for both', '--for takes mail or messages; without it a sender counts for both.'],
  ['senders add a@x.example --for', '--for needs a value.'],
  ['senders add a@x.example --for --subdomains', '--for needs a value.'],
  ['senders add a@x.example --for mail --for mail', '--for was given twice.'],
  ['senders add a@x.example --subdomains=yes', '--subdomains takes no value.'],
  ['senders add chat:Family ada@x.example', 'Name senders or chats, not both at once.'],
  ['senders add chat:', 'chat: takes the id or the exact name of a chat.'],
  ['senders add chat:Family --for mail', '--for says nothing about a chat.'],
  ['senders remove', 'Name at least one sender to remove.'],
  ['clients allow', 'Name the client by its id; "belfry clients list" shows them.'],
  ['clients allow cursor', '"cursor" is no client id: an id has 8 hex digits.'],
  ['clients deny 0123abcd 0123abce', '"0123abce" is one word too many. See "belfry --help".'],
  ['tokens', '"belfry tokens" needs an action: list, create, revoke.'],
  ['tokens create', 'Give the token a name by which you will know it, such as CI.'],
  ['tokens create my token', '"token" is one word too many. See "belfry --help".'],
  ['tokens create CI --once', 'Unknown option "--once". Known here: --json, --data-dir, --socket, --events, --senders, --grants.'],
  ['tokens create CI --grants root', '--grants takes mail, mail:everything, messages, messages:everything, search, reply, reply:unasked, or none alone.'],
  ['tokens revoke CI', '"CI" is no token id: an id has 8 hex digits.'],
  ['clients allow 0123abcd --events mail', '--events takes mail.received, messages.received or all.'],
  ...['clients allow 0123abcd --code 42', 'clients allow 0123abcd --code 12345', 'clients allow 0123abcd --code abcd', 'waiting allow 0123abcd --code=0x1f'].map((line): [string, string] => [line, '--code takes the four digits that the page in the browser shows.']),
  ['clients allow 0123abcd --grants root', '--grants takes mail, mail:everything, messages, messages:everything, search, reply, reply:unasked, or none alone.'],
  ['clients allow 0123abcd --grants none,mail', '--grants takes mail, mail:everything, messages, messages:everything, search, reply, reply:unasked, or none alone.'],
  ...['clients allow 0123abcd --grants ,', 'clients allow 0123abcd --grants=', 'tokens create CI --grants='].map((line): [string, string] => [line, '--grants needs a value; none takes all of them back.']),
  ['clients allow 0123abcd --senders ,', '--senders needs a value.'],
  ['clients allow 0123abcd --senders=', '--senders needs a value.'],
  ['clients allow 0123abcd --events=', '--events needs a value.'],
  ['clients allow 0123abcd --code=', '--code needs a value.'],
  ['senders add @x.example --except=', '--except needs a value.'],
  ['settings get colour', `There is no setting "colour"; there is ${KEYS}.`],
  ['settings set subjects', `Name a setting and its value. Settings: ${KEYS}.`],
  ['settings set colour red', `There is no setting "colour"; there is ${KEYS}.`],
  ['settings set subjects maybe', 'subjects takes on or off.'],
  ['settings set ratePerHour many', 'ratePerHour takes a whole number.'],
  ['settings set region Holland', 'region takes a country code of two letters, such as NL, or none.'],
  ['settings set subjects on now', '"now" is one word too many. See "belfry --help".'],
  ['pause soon', '"soon" is no duration: write 90s, 15m, 2h or 1d, or nothing for until resumed.'],
  ['pause 0s', '"0s" is no duration: write 90s, 15m, 2h or 1d, or nothing for until resumed.'],
  ['pause 1h 2h', '"2h" is one word too many. See "belfry --help".'],
  ['status all', '"all" is one word too many. See "belfry --help".'],
])('refused: %s', (line, message) => {
  expect(parseCommand(words(line))).toEqual({ ok: false, message, json: false });
});

test('serve takes its flags and nothing else', () => {
  expect(parseServe(words('--data-dir /d --mail-dir=/m --messages-db /c.db --accounts-db /a --address-book-dir /b --region nl --ui 0 --http 8080 --trust-local-clients --plain-index --local-webhooks /ca.pem'))).toEqual({
    ok: true,
    flags: {
      dataDir: '/d', mailDir: '/m', messagesDb: '/c.db', accountsDb: '/a', addressBookDir: '/b', region: 'NL', uiPort: 0, httpPort: 8080, trustLocalClients: true, plainIndex: true, localWebhooks: '/ca.pem',
    },
  });
  expect(parseServe([])).toMatchObject({ ok: true, flags: { dataDir: null, uiPort: null, trustLocalClients: false, plainIndex: false } });
});

test.each([
  ['--ui 70000', '--ui takes a port: a whole number from 0 to 65535.'],
  ['--http x', '--http takes a port: a whole number from 0 to 65535.'],
  ['--region Holland', '--region takes a country code of two letters, such as NL.'],
  ['--data-dir', '--data-dir needs a value.'],
  ['--mail-dir \0', '--mail-dir is no path: it holds a zero byte.'],
  ['now', '"serve" takes options only, not "now".'],
])('serve refuses %j', (line, message) => {
  expect(parseServe(words(line))).toEqual({ ok: false, message });
});
