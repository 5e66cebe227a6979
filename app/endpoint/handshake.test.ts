import { expect, test } from 'vitest';
import { parseHello, PROTOCOL, welcomeOf } from './handshake.ts';

const hello = (protocol: number, version = '0.0.9') => JSON.stringify({ protocol, version, mode: 'mcp', label: null });

test('a helper of another release talks to this engine as long as both speak one protocol', () => {
  expect(parseHello(hello(PROTOCOL, '9.4.0'))).toMatchObject({ mode: 'mcp', version: '9.4.0' });
});

test('a helper that is too old is told so with what to do, in one sentence', () => {
  expect(parseHello(hello(PROTOCOL - 1))).toEqual({ error: 'This helper (0.0.9) is too old for the Belfry that runs: start the client again, or set it up again in Belfry.' });
});

test('an engine that is too old says what to do about itself, also where the rest of the line is of a later age', () => {
  const later = { error: 'The Belfry that runs is older than this helper (2.0.0): quit Belfry and open it again.' };
  expect(parseHello(hello(PROTOCOL + 1, '2.0.0'))).toEqual(later);
  expect(parseHello(JSON.stringify({ protocol: PROTOCOL + 1, version: '2.0.0', mode: 'something-new' }))).toEqual(later);
});

test('what a peer calls its version does not reach a terminal as it is', () => {
  const said = parseHello(hello(PROTOCOL + 1, '\u001b[31m2.0\n'));
  expect(said).toEqual({ error: 'The Belfry that runs is older than this helper (??31m2.0?): quit Belfry and open it again.' });
});

test('the welcome carries both versions of the engine behind the word that any helper knows', () => {
  const line = welcomeOf('0.3.0');
  expect(line).toMatch(/^ok .*\n$/);
  expect(JSON.parse(line.slice(3))).toEqual({ protocol: PROTOCOL, version: '0.3.0' });
});
