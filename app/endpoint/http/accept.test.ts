import { expect, test } from 'vitest';
import { admits } from './accept.ts';

const STREAM = 'text/event-stream';

// RFC 9110, 12.5.1: the most specific range that fits decides.
test.each([
  [undefined, true], ['*/*', true], ['text/*', true], [STREAM, true], ['application/json, text/event-stream', true], ['TEXT/Event-Stream', true],
  ['text/event-stream;q=0.001', true], ['text/event-stream; charset=utf-8', true], ['*/*;q=0, text/event-stream', true], ['text/*;q=0, text/event-stream', true], ['text/event-stream;q=0, text/event-stream', true],
  ['', false], ['application/json', false], ['text/html', false], ['text/event-stream;q=0', false], ['text/event-stream; q=0.0', false], ['*/*, text/event-stream;q=0', false], ['*/*, text/*;q=0', false],
  ['text/event-streams', false], ['text/event-stream;q=x', false], ['*/html', false],
])('%s', (accept, admitted) => {
  expect(admits(accept, STREAM)).toBe(admitted);
});
