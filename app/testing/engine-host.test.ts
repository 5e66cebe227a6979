import { fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { contract } from '../contract/contract.ts';
import { connectContract, type Port } from '../contract/port.ts';
import { RawClient } from './raw-client.ts';
import { tempFolder } from './temp.ts';
import { NUMBER, openSettings } from './world.ts';
import { startWriter } from './writer-client.ts';

const entry = fileURLToPath(new URL('../engine/process.ts', import.meta.url));

/** The engine's own entry under child_process.fork, spoken to by the contract as a window would. */
test('a forked engine serves clients, answers the contract, tells changes and live rows, and ends with its host', async () => {
  using folder = tempFolder();
  await using writer = await startWriter({ mailDir: folder.at('Mail', 'V10'), messagesDb: folder.at('Messages', 'chat.db') });
  await writer.mail.addAccount({ description: 'iCloud', email: 'me@icloud.example', kind: 'imap' });
  mkdirSync(folder.at('data'));
  writeFileSync(folder.at('data', 'settings.json'), JSON.stringify(openSettings));
  const now = Math.floor(Date.now() / 1000);
  for (let i = 0; i < 3; i += 1) await writer.mail.arrive({ from: { address: `old${i}@example.org` }, dateReceived: now - 86_400 * (i + 1) });
  await writer.mail.arrive({ from: { address: 'ancient@example.org' }, dateReceived: now - 86_400 * 40 });

  const child = fork(entry, [], { execArgv: [], serialization: 'advanced', stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  const listeners = new Set<(value: unknown) => void>();
  child.on('message', (value) => {
    for (const listener of listeners) listener(value);
  });
  const port: Port = {
    postMessage: (value) => void child.send(value as object),
    onMessage: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  const ready = new Promise<string>((resolve) => {
    listeners.add((value) => {
      const { ready: path } = value as { ready?: string };
      if (path) resolve(path);
    });
  });
  port.postMessage({ kind: 'serve', start: { dataDir: folder.at('data'), mailDir: folder.at('Mail', 'V10'), messagesDb: folder.at('Messages', 'chat.db'), trustLocalClients: true } });
  const client = new RawClient(await ready);
  const { call, on } = connectContract(contract, port);

  const snapshot = await call.app.snapshot({});
  expect(snapshot.events).toMatchObject([{ type: 'mail.received', on: true }, { type: 'messages.received', on: true }]);
  expect(snapshot.status.stores.mail).toMatchObject({ state: 'readable', on: true });

  const [mail] = await call.senders.backtest({ sender: 'example.org', subdomains: false, for: 'mail', examples: 2 });
  expect(mail).toMatchObject({ type: 'mail.received', count: 3 });
  expect(mail!.examples.map(({ sender }) => sender)).toEqual(['old0@example.org', 'old1@example.org']);

  await call.live.subscribe({ notMatched: true });
  const rows: { sender: string; verdicts: { sent: boolean; reason: string | null }[]; json: unknown; notArrival: string | null }[] = [];
  let wake: () => void = () => undefined;
  on('live', (value) => {
    rows.push(...value.rows);
    wake();
  });
  const until = async (fits: () => boolean) => {
    while (!fits()) await new Promise<void>((resolve) => { wake = resolve; });
  };
  await client.stream('mail.received', { domains: ['example.org', 'shop.example'] }, {}, 1);
  await writer.mail.arrive({ from: { address: 'ada@example.org' }, subject: 'Plan' });
  await writer.mail.arrive({ from: { address: 'news@shop.example' } });
  await writer.mail.send({ to: [{ address: 'ada@example.org' }] });
  await until(() => rows.length >= 3);
  expect(rows[0]).toMatchObject({ sender: 'ada@example.org', notArrival: null, status: 'sent', verdicts: [{ sent: true, confirmed: false, reason: null }] });
  expect((rows[0]!.json as { data: { subject: string } }).data.subject).toBe('Plan');
  expect(rows[1]).toMatchObject({ sender: 'news@shop.example', verdicts: [{ sent: false, reason: 'no-allowed-sender' }], json: null });
  expect(rows[2]).toMatchObject({ notArrival: 'sent', verdicts: [], json: null });

  let changed = 0;
  on('changed', () => {
    changed += 1;
    wake();
  });
  expect(await call.events.set({ type: 'mail.received', on: false })).toMatchObject({ ok: true });
  await client.until(({ message }) => message['method'] === 'notifications/events/terminated');
  await until(() => changed > 0);
  await expect(call.senders.add({ senders: [], options: {} })).rejects.toThrow(/senders/);
  expect(await call.senders.check({ text: `${NUMBER}, gmail.com, bob@` })).toMatchObject([
    { ok: true, kind: 'phone' }, { ok: true, kind: 'domain', shared: true }, { ok: false },
  ]);
  const activity = await call.activity.recent({ limit: 10, filter: {} });
  expect(activity.map(({ kind }) => kind)).toContain('delivered');
  expect(JSON.stringify(activity)).not.toMatch(/ada@example|shop\.example|Plan/);

  await client.end();
  const exit = once(child, 'exit');
  child.disconnect();
  expect(await exit).toEqual([0, null]);
});
