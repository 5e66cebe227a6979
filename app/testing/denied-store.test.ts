import { chmodSync, chownSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { startWorld } from './world.ts';

/** Architecture 4: EPERM and EACCES are "not permitted", not "missing"; the engine waits and goes on by itself. */
test('a store of mode 000 is not permitted: answered and told, and served once the mode allows it', async () => {
  await using world = await startWorld({ start: false });
  const index = join(world.mailDir, 'MailData', 'Envelope Index');
  const isRoot = process.getuid?.() === 0;
  mkdirSync(join(world.dataDir, 'run'), { mode: 0o700 });
  chmodSync(index, 0o000);
  // Root may read everything: the engine starts as a user without rights, over a data folder of its own.
  if (isRoot) {
    for (const path of [world.dataDir, join(world.dataDir, 'run'), join(world.dataDir, 'settings.json')]) chownSync(path, 65534, 65534);
    for (const path of [world.folder.path, world.mailDir, join(world.mailDir, '..'), join(world.mailDir, 'MailData')]) chmodSync(path, 0o755);
    process.seteuid!(65534);
  }
  try {
    await world.startEngine();
    const hub = world.engine.hub('mail.received');
    expect(hub.tail.trouble).toBe('not_permitted');
    expect(() => hub.ready()).toThrow(expect.objectContaining({ code: -32603, data: { reason: 'not_permitted', retryAfterMs: 1000 } }) as Error);
    expect(world.log).toContain('mail.received: the store cannot be read (not_permitted)');
    expect(world.engine.access).toMatchObject({ mail: { state: 'denied', everRead: false, version: 'V10' }, messages: { state: 'readable' } });
  } finally {
    if (isRoot) process.seteuid!(0);
  }
  chmodSync(index, 0o644);
  const hub = world.engine.hub('mail.received');
  expect(() => hub.ready()).not.toThrow();
  expect(hub.tail.trouble).toBeNull();
  // The trouble of a tail changed, so the access is looked at again.
  await expect.poll(() => world.engine.access.mail).toEqual({ state: 'readable', everRead: true, version: 'V10' });
});
