import { expect, test } from 'vitest';
import { MessagesStore, type Message } from '../../testing/messages-store.ts';
import { tempFolder } from '../../testing/temp.ts';
import { ChatDatabase } from './chat-database.ts';
import { echoHash, Echoes } from './echoes.ts';

const OWN = 'me@example.org';

function setUp(columns?: '10.13') {
  const folder = tempFolder();
  const path = folder.at('chat.db');
  const store = MessagesStore.create(path, columns === undefined ? {} : { columns });
  let now = 0;
  const echoes = new Echoes(() => now);
  const database = new ChatDatabase({ path, region: 'US', echoes });
  database.open();
  const row = (rowid: number) => database.pick([rowid])[0]!;
  return {
    store, echoes, row,
    pass: (ms: number) => void (now += ms),
    chatOf: (rowid: number) => row(rowid).chat!.guid,
    [Symbol.dispose]() {
      database.close();
      store.close();
      folder[Symbol.dispose]();
    },
  };
}

test('a reply to oneself: neither of its two rows rings, however often they are read', () => {
  using it = setUp();
  const chat = it.chatOf(it.store.selfChatTwin('Earlier').received);
  it.echoes.expect(chat, 'On my way');
  const { sent, received } = it.store.selfChatTwin('On my way');
  for (let again = 0; again < 3; again += 1) {
    expect(it.row(sent).excluded).toBe('sent');
    expect(it.row(received)).toMatchObject({ excluded: 'twin', incomplete: false });
  }
});

test('the same words to oneself once more, by hand, ring: a reply has one echo', () => {
  using it = setUp();
  const chat = it.chatOf(it.store.selfChatTwin('Earlier').received);
  it.echoes.expect(chat, 'On my way');
  expect(it.row(it.store.selfChatTwin('On my way').received).excluded).toBe('twin');
  expect(it.row(it.store.selfChatTwin('On my way', OWN, { date: Date.now() + 60_000 }).received).excluded).toBeNull();
});

test.each<[string, (it: ReturnType<typeof setUp>, chat: string) => void]>([
  ['other words', (it, chat) => it.echoes.expect(chat, 'Other words')],
  ['another chat', (it) => it.echoes.expect('any;-;somebody@example.org', 'On my way')],
  ['five minutes later', (it, chat) => {
    it.echoes.expect(chat, 'On my way');
    it.pass(300_000);
  }],
])('%s: no echo', (_name, expectIt) => {
  using it = setUp();
  expectIt(it, it.chatOf(it.store.selfChatTwin('Earlier').received));
  expect(it.row(it.store.selfChatTwin('On my way').received)).toMatchObject({ excluded: null, incomplete: false });
});

test('somebody who answers in the same words rings; the row is only looked at again first', () => {
  using it = setUp();
  const from: Message = { from: '+15550101234' };
  const chat = it.chatOf(it.store.arrive(from));
  it.echoes.expect(chat, 'ok');
  const answer = it.store.arrive({ ...from, text: 'ok' });
  expect(it.row(answer)).toMatchObject({ excluded: null, incomplete: true });
  expect(it.row(it.store.arrive({ ...from, text: 'fine' }))).toMatchObject({ excluded: null, incomplete: false });
});

test('a sent row that stands as received at first waits, and then is what it is', () => {
  using it = setUp();
  const from: Message = { from: '+15550101234' };
  it.echoes.expect(it.chatOf(it.store.arrive(from)), 'ok');
  const rowid = it.store.arrive({ ...from, text: 'ok' });
  expect(it.row(rowid).incomplete).toBe(true);
  it.store.transaction(() => it.store.update('message', rowid, { is_from_me: 1, handle_id: 0 }));
  expect(it.row(rowid)).toMatchObject({ excluded: 'sent' });
});

test('a group is never taken for a chat with oneself', () => {
  using it = setUp();
  const group: Message = { from: OWN, chat: { group: true, identifier: 'chat7', members: [OWN, '+15550101234'] } };
  it.echoes.expect(it.chatOf(it.store.arrive(group)), 'ok');
  expect(it.row(it.store.arrive({ ...group, text: 'ok' })).excluded).toBeNull();
});

test('columns of an older store are enough', () => {
  using it = setUp('10.13');
  const chat = it.chatOf(it.store.selfChatTwin('Earlier').received);
  it.echoes.expect(chat, 'On my way');
  expect(it.row(it.store.selfChatTwin('On my way').received).excluded).toBe('twin');
});

test.each([
  ['It’s “fine”', 'It\'s "fine"', true],
  [' two  spaces\n', 'two spaces', true],
  ['e\u0301', 'é', true],
  ['❤️', '❤', true],
  ['ok', 'OK', false],
  ['a', 'b', false],
])('%j and %j are the same words: %s', (a, b, same) => {
  expect(echoHash(a) === echoHash(b)).toBe(same);
});
