import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { Connection } from './connection.ts';
import { capabilitiesOf, declarations, licences, UnlicensedError, type Held, type MethodOf } from './emission.ts';

function connection(): { connection: Connection; written: () => string; emitted: string[] } {
  const socket = new PassThrough();
  const made = new Connection(socket);
  const emitted: string[] = [];
  made.onemit = ({ method, licence }, sent) => emitted.push(`${sent ? 'sent' : 'held back'} ${method} by ${licence}`);
  return { connection: made, emitted, written: () => (socket.read() as Buffer | null)?.toString() ?? '' };
}
const settled = () => new Promise((done) => { setImmediate(done); });

test('what is not licensed does not compile', () => {
  const { connection: to } = connection();
  const held: Held<'experimental.claude/channel'> = to.license('experimental.claude/channel')!;
  to.notify(held, 'notifications/claude/channel', '\n');
  // @ts-expect-error -- no such method in the table
  const none: MethodOf<'experimental.claude/channel'> = 'notifications/message';
  // @ts-expect-error -- a method that another declaration licenses
  const other: MethodOf<'experimental.claude/channel'> = 'notifications/events/event';
  // @ts-expect-error -- a declaration that is not in the table licenses nothing
  const unknown: Held<'experimental.claude/channel/permission'> | null = null;
  // @ts-expect-error -- the licence of one declaration is not that of another
  const wrong: Held<'tools.listChanged'> = held;
  expect([none, other, unknown, wrong]).toHaveLength(4);
});

test('a method that has no licence at all cannot be written', async () => {
  const { connection: to, written } = connection();
  await expect(to.send({ jsonrpc: '2.0', method: 'notifications/message', params: {} })).rejects.toThrow(UnlicensedError);
  await settled();
  expect(written()).toBe('');
});

test('a method whose declaration this connection never made is held back, and told', async () => {
  const { connection: to, written, emitted } = connection();
  await to.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  await settled();
  expect(written()).toBe('');
  to.license('tools.listChanged');
  await to.send({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  await settled();
  expect(written()).toBe('{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n');
  expect(emitted).toEqual(['held back notifications/tools/list_changed by tools.listChanged', 'sent notifications/tools/list_changed by tools.listChanged']);
  expect([...to.emitted]).toEqual([[{ method: 'notifications/tools/list_changed', licence: 'tools.listChanged' }, 1]]);
});

test('every declaration licenses something, and stands in the capabilities where the specification has it', () => {
  const used = new Set<string>(Object.values(licences));
  expect(Object.keys(declarations).filter((name) => !used.has(name))).toEqual([]);
  expect(capabilitiesOf(['tools.listChanged', 'resources.subscribe', 'resources.listChanged', 'experimental.claude/channel', 'extensions.io.modelcontextprotocol/events'])).toEqual({
    tools: { listChanged: true }, resources: { subscribe: true, listChanged: true }, experimental: { 'claude/channel': {} }, extensions: { 'io.modelcontextprotocol/events': {} },
  });
});
