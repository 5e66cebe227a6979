import { expect, test } from 'vitest';
import { callbackOf } from './callback.ts';

test.each([
  ['https://hooks.example.net/mcp/a1', 'https://hooks.example.net/mcp/a1', 'hooks.example.net'],
  ['HTTPS://Hooks.Example.NET:443/a', 'https://hooks.example.net/a', 'hooks.example.net'],
  ['https://hooks.example.net:8443/a?b=c', 'https://hooks.example.net:8443/a?b=c', 'hooks.example.net:8443'],
  ['https://bücher.example/a', 'https://xn--bcher-kva.example/a', 'xn--bcher-kva.example'],
])('%s is %s at %s', (given, url, host) => {
  expect(callbackOf(given)).toEqual({ url, host });
});

test.each<[unknown, RegExp]>([
  [undefined, /must be a string/], [7, /must be a string/], ['', /absolute https/], ['/a', /absolute https/], ['//hooks.example.net/a', /absolute https/],
  ['http://127.0.0.1:8080/a', /absolute https/], ['http://hooks.example.net/a', /absolute https/], ['ftp://hooks.example.net/a', /absolute https/], ['https://', /absolute https/],
  ['javascript:alert(1)', /absolute https/], ['https://hooks.exam\nple.net/a', /absolute https/], [' https://hooks.example.net/a', /absolute https/], ['https:/hooks.example.net', /absolute https/],
  ['https://ada@hooks.example.net/a', /user name/], ['https://ada:x@hooks.example.net/a', /user name/], ['https://hooks.example.net/a#b', /fragment/],
  ['https://127.0.0.1/a', /not an address/], ['https://[::1]/a', /not an address/], ['https://2130706433/a', /not an address/], ['https://0x7f.1/a', /not an address/], ['https://0177.0.0.1/a', /not an address/],
  [`https://hooks.example.net/${'a'.repeat(2048)}`, /at most 2048/],
])('%j is refused', (given, rule) => {
  expect(() => callbackOf(given)).toThrow(expect.objectContaining({ code: -32602, message: expect.stringMatching(rule) }));
});
