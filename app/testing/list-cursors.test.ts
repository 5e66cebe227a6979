import { expect, test } from 'vitest';
import type { GrantName } from '../policy/change.ts';
import { ADA, OTHER } from './conformance-kit.ts';
import type { HttpClient } from './http-client.ts';
import { clientOf } from './test-credentials.ts';
import { NUMBER, startWorld, type World } from './world.ts';

/** What lists tell of rows that a client may not read: in a cursor, in a count, on a second page. */
const OVER = /^cursor: must be nextCursor of the last answer to the same question\. One from before Belfry was started anew is over: ask without it to begin again\.$/;
const STRANGER = '+15550109999';
const T = 1_760_000_000;

async function answer(client: HttpClient, name: string, args: object): Promise<{ readonly sentence: string; readonly isError: boolean; readonly value: Record<string, any> }> {
  const { result } = await client.request('tools/call', { name, arguments: args });
  return { sentence: result['content'][0].text as string, isError: result['isError'] === true, value: result['structuredContent'] as Record<string, any> };
}
async function reader(world: World, token: string, ...grants: GrantName[]): Promise<HttpClient> {
  const client = world.httpClient(token);
  // It is known once it asked for something.
  await client.request('tools/list');
  expect(world.engine.policy.allowClient(clientOf(token), { grants })).toMatchObject({ ok: true });
  return client;
}

test('a cursor says nothing of the rows that may not be read, and goes on for its own client, tool and arguments alone', async () => {
  await using world = await startWorld({ http: true });
  const grants: GrantName[] = ['mail', 'messages', 'search'];
  const [client, other] = [await reader(world, 'test-one', ...grants), await reader(world, 'test-two', ...grants)];
  const chat = { group: true, identifier: 'chat8001', name: 'Crew', members: [NUMBER, STRANGER] };
  await world.writer.mail.arrive({ from: ADA, subject: 'Rota', dateReceived: T, file: false });
  await world.writer.mail.arriveMany(Array.from({ length: 1100 }, (_, at) => ({ from: OTHER, subject: 'Secret', dateReceived: T + 1 + at, file: false, summary: null })));
  await world.writer.messages.arrive({ from: NUMBER, text: 'zurich', chat, date: T * 1000 });
  await world.writer.messages.arrive({ from: NUMBER, text: 'zurich too', chat, date: T * 1000 + 1000 });
  await world.writer.messages.arrive({ from: NUMBER, text: 'Elsewhere' });
  const questions: readonly (readonly [tool: string, args: object, otherwise: object, items: string])[] = [
    ['mail_list', {}, { filter: 'unread' }, 'mails'],
    ['messages_list', { chat: 'Crew', limit: 1 }, { person: NUMBER }, 'messages'],
    ['messages_chats', { limit: 1 }, {}, 'chats'],
    ['messages_search', { query: 'zurich', limit: 1 }, { query: 'zurich too' }, 'messages'],
  ];
  const cursors = new Map<string, string>();
  for (const [name, args, , items] of questions) {
    const { value, sentence } = await answer(client, name, args);
    // A thousand mails were looked at, and none may be read.
    expect(value[items], name).toHaveLength(name === 'mail_list' ? 0 : 1);
    const cursor = value['nextCursor'] as string;
    expect(cursor, name).toMatch(/^[\w-]{91}$/);
    expect(sentence, name).toContain(cursor);
    expect(Buffer.from(cursor, 'base64url').toString('latin1'), name).not.toContain('17600');
    cursors.set(name, cursor);
  }
  for (const [name, args, otherwise, items] of questions) {
    const cursor = cursors.get(name)!;
    expect((await answer(client, name, { ...args, cursor })).value[items], name).toHaveLength(1);
    const foreign = [...cursors].filter(([tool]) => tool !== name).map(([, each]) => answer(client, name, { ...args, cursor: each }));
    const refused = await Promise.all([
      ...foreign, answer(other, name, { ...args, cursor }), answer(client, name, { ...args, cursor: `B${cursor.slice(1)}` === cursor ? `C${cursor.slice(1)}` : `B${cursor.slice(1)}` }),
      answer(client, name, { ...args, cursor: '1760000105_106' }), answer(client, name, { ...args, cursor: 'x'.repeat(2000) }),
      ...(Object.keys(otherwise).length === 0 ? [] : [answer(client, name, { ...otherwise, cursor })]),
    ]);
    for (const { isError, sentence } of refused) expect([isError, sentence], name).toEqual([true, expect.stringMatching(OVER)]);
  }
  await world.engine.stop();
  await world.startEngine();
  const again = world.httpClient('test-one');
  for (const [name, args] of questions) expect((await answer(again, name, { ...args, cursor: cursors.get(name)! })).sentence, name).toMatch(OVER);
}, 120_000);

test('inboxes of several accounts by pages: each mail once, the newest first', async () => {
  await using world = await startWorld({ http: true });
  const client = await reader(world, 'test-one', 'mail:everything');
  const accounts = [world.account];
  for (const kind of ['imap', 'gmail'] as const) accounts.push((await world.writer.mail.addAccount({ description: `Account ${kind}`, email: `me@${kind}.example`, kind })).result);
  // Every mail went to all three, and was seen there in another order.
  for (let nth = 0; nth < 6; nth += 1) {
    for (const [at, account] of accounts.entries()) {
      await world.writer.mail.arrive({ account, mailbox: 'INBOX', from: ADA, subject: `Mail ${nth}`, messageId: `<${nth}@x.example>`, dateReceived: T + nth * 10 + ((nth + at) % 3) * 25, file: false });
    }
  }
  const walk = async (limit: number): Promise<string[]> => {
    const found: string[] = [];
    for (let cursor: string | null | undefined; cursor !== null;) {
      const { value } = await answer(client, 'mail_list', { limit, ...(cursor !== undefined && { cursor }) });
      found.push(...(value['mails'] as Record<string, any>[]).map(({ mail }) => mail.subject as string));
      cursor = value['nextCursor'] as string | null;
    }
    return found;
  };
  const expected = [5, 4, 3, 2, 1, 0].map((nth) => `Mail ${nth}`);
  for (const limit of [1, 2, 4, 200]) expect(await walk(limit), String(limit)).toEqual(expected);
}, 120_000);

test('mailboxes are counted as Mail counts where nothing is left out; where something is, there is no count', async () => {
  await using world = await startWorld({ http: true });
  const client = await reader(world, 'test-one', 'mail:everything');
  const { result: gmail } = await world.writer.mail.addAccount({ description: 'Google', email: 'me@gmail.example', kind: 'gmail' });
  await world.writer.mail.arrive({ from: ADA, file: false });
  await world.writer.mail.arrive({ from: OTHER, flags: { read: true }, file: false });
  await world.writer.mail.arrive({ from: OTHER, flags: { deleted: true }, file: false });
  await world.writer.mail.arrive({ account: gmail, mailbox: 'INBOX', from: ADA, file: false });
  const counts = async (who: HttpClient) => new Map(((await answer(who, 'mail_mailboxes', {})).value['mailboxes'] as Record<string, any>[]).map(({ name, total, unread }) => [name as string, [total, unread] as const]));
  const shown = async (mailbox: string) => ((await answer(client, 'mail_list', { mailbox })).value['mails'] as unknown[]).length;
  const before = await counts(client);
  expect([before.get('iCloud/INBOX'), before.get('Google/INBOX'), before.get('Google/[Gmail]/All Mail')]).toEqual([[2, 1], [1, 1], [1, 1]]);
  for (const name of ['iCloud/INBOX', 'Google/INBOX']) expect(await shown(name), name).toBe(before.get(name)![0]);

  expect(world.engine.policy.exclude([`${gmail}/[Gmail]/All Mail`])).toMatchObject({ ok: true });
  const after = await counts(client);
  expect([after.get('iCloud/INBOX'), after.get('Google/INBOX'), after.has('Google/[Gmail]/All Mail')]).toEqual([[2, 1], [null, null], false]);
  expect(await shown('Google/INBOX')).toBe(0);
  expect([...(await counts(await reader(world, 'test-two', 'mail'))).values()].every((each) => each.every((count) => count === null))).toBe(true);
}, 120_000);
