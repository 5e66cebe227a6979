import { expect, test } from 'vitest';
import { PROGRAM_SCHEMES, placeOf, redirectFault, sameRedirect, withAnswer } from './redirect-uri.ts';

test.each([
  'https://agent.example/callback', 'https://agent.example/callback?from=belfry', 'https://agent.example:8443/', 'https://agent.example',
  'http://127.0.0.1/callback', 'http://127.0.0.1:3000/callback', 'http://localhost:3000/callback', 'http://[::1]:3000/callback', 'http://127.0.0.1?x=1'.replace('?', '/?'),
  'cursor://anysphere.cursor-deeplink/mcp/oauth', 'com.example.app:/oauth', 'com.example.app:/oauth?x=1', 'com.example.app://oauth', 'io.github.some-one.agent2:/oauth',
  ...[...PROGRAM_SCHEMES].map((scheme) => `${scheme}://oauth/callback`), 'https://agent.example/callback?codes=1&mystate=x',
])('%s may be registered', (uri) => {
  expect(redirectFault(uri)).toBeNull();
});

test.each<[unknown, RegExp]>([
  [17, /must be text/],
  ['', /plain ASCII/],
  ['/callback', /no absolute address/],
  ['https://', /no absolute address/],
  ['https://agent.example/callback#code', /no fragment/],
  ['https://agent.example/callback#', /no fragment/],
  ['http://agent.example/callback', /must be https/],
  ['http://127.0.0.1.agent.example/callback', /must be https/],
  ['http://localhost.agent.example/callback', /must be https/],
  ['http://127.0.0.1@agent.example/callback', /user name/],
  ['http://127.0.0.1:80@agent.example/callback', /user name/],
  ['https://127.0.0.1:3000@agent.example/callback', /user name/],
  ['http://127.1/callback', /must be https/],
  ['http://2130706433/callback', /must be https/],
  ['http://0x7f.0.0.1/callback', /must be https/],
  ['http://0.0.0.0:3000/callback', /must be https/],
  ['http://127.0.0.2:3000/callback', /must be https/],
  ['http://[::ffff:127.0.0.1]/callback', /must be https/],
  ['HTTP://127.0.0.1/callback', /must be https/],
  ['https:\\\\agent.example\\callback', /backslashes/],
  ['https://agent.example\\@127.0.0.1/', /backslashes/],
  ['https://agent.example/a b', /without spaces/],
  ['https://agent.example/\ncallback', /without spaces/],
  ['https://ägent.example/callback', /plain ASCII/],
  ['https://Agent.example/callback', /must be written as https:\/\/agent\.example\/callback/],
  ['https://agent.example/a/../callback', /must be written as https:\/\/agent\.example\/callback/],
  ['https://agent.example:443/callback', /must be written as/],
  ['https:agent.example/callback', /must be written as/],
  ['javascript:alert(1)', /scheme javascript/],
  ['JavaScript:alert(1)', /scheme javascript/],
  ['data:text/html,x', /scheme data/],
  ['vbscript:x', /scheme vbscript/],
  ['file:///etc/passwd', /scheme file/],
  ['blob:https://agent.example/1', /scheme blob/],
  ['about:blank', /scheme about/],
  // Programs of the system, and of others, that open, run or fetch something.
  ...['applescript', 'ssh', 'smb', 'afp', 'nfs', 'vnc', 'x-man-page', 'shortcuts', 'terminal', 'itms-services', 'facetime', 'help', 'ms-word', 'intent', 'mailto', 'slack', 'x-apple.systempreferences', 'com.apple.tv'].map((scheme): [string, RegExp] => (
    [`${scheme}://x/y`, new RegExp(`^must not have the scheme ${scheme.replaceAll('.', '\\.')}, but https, http to this machine, or a program's own`)])),
  ['.com.example:/oauth', /no absolute address/],
  ['com.example.:/oauth', /scheme com\.example\./],
  ['com..example:/oauth', /scheme com\.\.example/],
  ['c.example:/oauth', /scheme c\.example/],
  ...['code', 'state', 'iss', 'error', 'error_description', 'error_uri', 'Code', '%63ode'].map((name): [string, RegExp] => (
    [`https://agent.example/cb?x=1&${name}=own`, new RegExp(`^must not hold ${decodeURIComponent(name)} in its query`)])),
  ['com.example.app:/oauth?code', /must not hold code/],
  [`https://agent.example/${'a'.repeat(2048)}`, /at most 2048/],
])('%j is refused', (uri, rule) => {
  expect(redirectFault(uri)).toMatch(rule);
});

test.each<[string, string, boolean]>([
  ['https://agent.example/callback', 'https://agent.example/callback', true],
  ['https://agent.example/callback', 'https://agent.example/callback/', false],
  ['https://agent.example/callback', 'https://agent.example/callback?x=1', false],
  ['https://agent.example/callback', 'https://agent.example:8443/callback', false],
  ['https://agent.example/callback', 'https://agent.example.evil.example/callback', false],
  ['http://127.0.0.1/callback', 'http://127.0.0.1:49152/callback', true],
  ['http://127.0.0.1:3000/callback', 'http://127.0.0.1:3001/callback', true],
  ['http://127.0.0.1:3000/callback', 'http://127.0.0.1:3001/other', false],
  ['http://127.0.0.1:3000/callback', 'http://127.0.0.1:3001/callback?x=1', false],
  ['http://[::1]:3000/callback', 'http://[::1]:3001/callback', true],
  ['http://localhost:3000/callback', 'http://localhost:3001/callback', true],
  ['http://127.0.0.1:3000/callback', 'http://localhost:3000/callback', false],
  ['http://127.0.0.1/callback', 'https://127.0.0.1/callback', false],
  ['http://127.0.0.1:3000/callback', 'http://127.0.0.1:3000@evil.example/callback', false],
  ['http://127.0.0.1:3000/callback', 'http://127.0.0.1:99999/callback', false],
  ['com.example.app:/oauth', 'com.example.app:/oauth2', false],
  // Registered under other rules.
  ['smb://host.example/share', 'smb://host.example/share', false],
  ['https://agent.example/cb?code=own', 'https://agent.example/cb?code=own', false],
])('registered %s, asked for %s: %s', (registered, given, expected) => {
  expect(sameRedirect(registered, given)).toBe(expected);
});

test('people see the host, or the scheme of a program', () => {
  expect(['https://agent.example/x', 'http://127.0.0.1:3000/x', 'cursor://anysphere/x', 'com.example.app:/x'].map(placeOf)).toEqual(['agent.example', '127.0.0.1:3000', 'cursor', 'com.example.app']);
});

test.each([
  ['https://agent.example/cb', 'https://agent.example/cb?code=a%26b&iss=http%3A%2F%2F127.0.0.1%3A1'],
  ['https://agent.example', 'https://agent.example?code=a%26b&iss=http%3A%2F%2F127.0.0.1%3A1'],
  ['https://agent.example/cb?from=belfry', 'https://agent.example/cb?from=belfry&code=a%26b&iss=http%3A%2F%2F127.0.0.1%3A1'],
  // As it was registered, character by character.
  ['https://agent.example/cb?a=%20b&c&d=+%2B&a=2', 'https://agent.example/cb?a=%20b&c&d=+%2B&a=2&code=a%26b&iss=http%3A%2F%2F127.0.0.1%3A1'],
  ['https://agent.example/cb?', 'https://agent.example/cb?code=a%26b&iss=http%3A%2F%2F127.0.0.1%3A1'],
  ['https://agent.example/cb?a&', 'https://agent.example/cb?a&code=a%26b&iss=http%3A%2F%2F127.0.0.1%3A1'],
  ['com.example.app:/oauth', 'com.example.app:/oauth?code=a%26b&iss=http%3A%2F%2F127.0.0.1%3A1'],
  ['com.example.app:/oauth?a=%20b', 'com.example.app:/oauth?a=%20b&code=a%26b&iss=http%3A%2F%2F127.0.0.1%3A1'],
])('an answer stands behind what was registered: %s', (uri, expected) => {
  expect(withAnswer(uri, { code: 'a&b', state: null, iss: 'http://127.0.0.1:1' })).toBe(expected);
});
