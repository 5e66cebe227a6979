import { expect, test } from 'vitest';
import { mirrorFault } from './mirror.ts';

const VERSION = '2026-07-28';
const word = (text: string) => `=?base64?${Buffer.from(text).toString('base64')}?=`;
const fault = (method: string, params: object | undefined, headers: Record<string, string>) => mirrorFault(headers, { method, params }, VERSION);
const base = (method: string) => ({ 'mcp-protocol-version': VERSION, 'mcp-method': method });

test.each([
  ['events/poll', 'name'], ['events/stream', 'name'], ['events/subscribe', 'name'], ['events/unsubscribe', 'name'], ['tools/call', 'name'], ['prompts/get', 'name'], ['resources/read', 'uri'],
])('%s repeats params.%s', (method, field) => {
  const params = { [field]: 'a b' };
  expect(fault(method, params, { ...base(method), 'mcp-name': 'a b' })).toBeNull();
  expect(fault(method, params, { ...base(method), 'mcp-name': ' a b ' })).toBeNull();
  expect(fault(method, params, { ...base(method), 'mcp-name': word('a b') })).toBeNull();
  expect(fault(method, params, base(method))).toBe('Mcp-Name: the header is missing');
  for (const other of ['', 'A b', 'a', word('a'), 'a b, a b']) expect(fault(method, params, { ...base(method), 'mcp-name': other }), other).toBe('Mcp-Name: the header differs from the body');
});

test.each(['=?base64?', '=?base64?YQ', '=?base64?Y Q==?=', '=?base64?YQ=?=?=', '=?base64?Y?=', `=?base64?${Buffer.from([0xff]).toString('base64')}?=`])('%s is no base64 word', (name) => {
  expect(fault('events/poll', { name: 'a' }, { ...base('events/poll'), 'mcp-name': name })).toBe('Mcp-Name: the base64 word cannot be decoded');
});

test('what no header can hold comes as a word', () => {
  for (const name of ['пошта', ' padded ', 'two\nlines', '=?base64?YQ==?=']) expect(fault('events/poll', { name }, { ...base('events/poll'), 'mcp-name': word(name) })).toBeNull();
});

test('version and method are there and the same, to the letter', () => {
  expect(fault('events/list', {}, base('events/list'))).toBeNull();
  expect(fault('events/list', {}, { 'mcp-method': 'events/list' })).toBe('MCP-Protocol-Version: the header is missing');
  expect(fault('events/list', {}, { ...base('events/list'), 'mcp-protocol-version': '2025-11-25' })).toBe('MCP-Protocol-Version: the header differs from the body');
  expect(fault('events/list', {}, { 'mcp-protocol-version': VERSION })).toBe('Mcp-Method: the header is missing');
  for (const other of ['events/poll', 'Events/List', word('events/list')]) expect(fault('events/list', {}, base(other))).toBe('Mcp-Method: the header differs from the body');
});

test('a body without the value has nothing to repeat, and other methods have no name', () => {
  for (const params of [undefined, {}, { name: 7 }]) expect(fault('events/poll', params, base('events/poll'))).toBeNull();
  expect(fault('tools/list', { name: 'a' }, base('tools/list'))).toBeNull();
});
