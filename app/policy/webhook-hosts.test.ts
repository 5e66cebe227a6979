import { expect, test } from 'vitest';
import { tempFolder } from '../testing/temp.ts';
import { policyIn } from './testing.ts';
import { readHost } from './webhook-hosts.ts';

test.each([
  ['hooks.example.net', 'hooks.example.net'], ['  Hooks.Example.NET ', 'hooks.example.net'], ['hooks.example.net:443', 'hooks.example.net'], ['hooks.example.net:8443', 'hooks.example.net:8443'],
  ['bücher.example', 'xn--bcher-kva.example'], ['localhost', 'localhost'],
])('%j is kept as %s', (text, host) => {
  expect(readHost(text)).toEqual({ ok: true, host });
});

test.each([
  '', '   ', '*', '*.example.net', 'https://hooks.example.net', 'hooks.example.net/a', 'ada@hooks.example.net', 'hooks.example.net?a', 'hooks.example.net#a', 'a b', 'hooks.example.net.', '.example.net', 'a..b',
  '127.0.0.1', '10.0.0.1:8443', '[::1]', '[2606:4700::1]:443', '2130706433', '0x7f000001', 'hooks.example.net:0', 'hooks.example.net:99999', 'hooks.example.net:x', 'a'.repeat(300), 'hooks.example.net\u0000',
])('%j is no host', (text) => {
  expect(readHost(text).ok).toBe(false);
});

test('adding widens, removing narrows; the first host switches webhooks on, the last one off', () => {
  using folder = tempFolder();
  const { policy } = policyIn(folder.path);
  const heard: unknown[] = [];
  policy.onChange((kind, sentence) => heard.push([kind, sentence]));
  expect(policy.webhooksOn).toBe(false);
  expect(policy.widens({ do: 'add-hosts', hosts: ['Hooks.example.net'] })).toBe(true);
  expect(policy.addHosts(['Hooks.example.net', 'hooks.example.net:443', 'b.example.net:8443'])).toMatchObject({ ok: true, changed: true });
  expect(policy.snapshot().hosts).toEqual(['hooks.example.net', 'b.example.net:8443']);
  expect(policy.webhooksOn && policy.isWebhookHost('hooks.example.net') && policy.isWebhookHost('b.example.net:8443')).toBe(true);
  // No port, no subdomain and no parent comes along.
  for (const other of ['hooks.example.net:8443', 'b.example.net', 'a.hooks.example.net', 'example.net']) expect(policy.isWebhookHost(other), other).toBe(false);
  expect(policy.widens({ do: 'add-hosts', hosts: ['HOOKS.example.net'] })).toBe(false);
  expect(policy.widens({ do: 'remove-hosts', hosts: ['hooks.example.net'] })).toBe(false);
  expect(policy.addHosts(['hooks.example.net'])).toMatchObject({ ok: true, changed: false });
  expect(policy.addHosts(['hooks.example.net', '10.0.0.1'])).toMatchObject({ ok: false, code: 'invalid', message: '"10.0.0.1" is an address: name the host.' });
  expect(policy.removeHosts(['c.example.net'])).toMatchObject({ ok: false, code: 'nothing' });
  expect(policy.removeHosts(['Hooks.example.net', 'b.example.net:8443'])).toMatchObject({ ok: true });
  expect(policy.webhooksOn).toBe(false);
  // Activity hears how many, never which.
  expect(heard).toEqual([['hosts', '2 webhook hosts added'], ['hosts', '2 webhook hosts removed']]);
});

test.each(['localhost', 'LOCALHOST:8443', 'hooks.localhost'])('%s is this machine: refused, unless webhooks may go there', (host) => {
  using folder = tempFolder();
  using other = tempFolder();
  const { policy } = policyIn(folder.path);
  const refused = { ok: false, code: 'invalid', message: `"${host.toLowerCase()}" is this machine, and webhooks go to public hosts only.` };
  expect(policy.addHosts(['hooks.example.net', host])).toEqual(refused);
  expect(policy.request({ do: 'add-hosts', hosts: [host] })).toEqual(refused);
  expect(policy.snapshot().hosts).toEqual([]);
  expect(policyIn(other.path, { localReceivers: true }).policy.addHosts([host])).toMatchObject({ ok: true, changed: true });
});
