import { expect, test } from 'vitest';
import { ADA, MAIL, mailArgs, ring } from '../conformance-kit.ts';
import { startWorld } from '../world.ts';
import { describeClient } from './describe-client.ts';
import { EmptyHome } from './empty-home.ts';
import { nobodyStays } from './mail-turn.ts';
import { levelOf, WireTap } from './wire-tap.ts';

const TOOLS = ['list_event_types', 'watch_events', 'wait_for_events', 'check_inbox', 'list_watches', 'stop_watch', 'request_access'];

await describeClient('inspector', (command) => {
  test.each([['legacy', 'initialize', 2], ['modern', 'server/discover', 3]] as const)('in the %s era it lists the tools without a fault in their schemas, and waits for a mail with them', async (era, opening, level) => {
    await using world = await startWorld();
    await using home = await EmptyHome.make();
    const tap = new WireTap(home);
    const ask = async (...args: string[]): Promise<any> => {
      const { code, stdout, stderr } = await home.run([...command, '--protocol-era', era, tap.command, '--client=inspector', '--socket', world.engine.socketPath, '--format', 'json', '--method', ...args]);
      expect(code, stderr).toBe(0);
      return (JSON.parse(stdout) as { result: unknown }).result;
    };
    const call = async (tool: string, args: object): Promise<any> => (await ask('tools/call', '--tool-name', tool, '--tool-args-json', JSON.stringify(args))).structuredContent;

    // "--strict" ends with another code if a schema has a fault.
    const { tools } = await ask('tools/list', '--strict');
    expect(tools.map(({ name }: { name: string }) => name)).toEqual(TOOLS);
    const { watch: { watch } } = await call('watch_events', { event: MAIL, arguments: mailArgs });
    const waiting = call('wait_for_events', { watch, timeoutSeconds: 50 });
    await ring(world, 'Rota for Friday');
    const { items, batch } = await waiting;
    expect(items).toMatchObject([{ watch, event: MAIL, data: { subject: 'Rota for Friday', from: ADA } }]);
    expect(await call('check_inbox', { confirm: batch })).toMatchObject({ confirmed: 1, items: [] });
    const { resources } = await ask('resources/list');
    expect(resources.map(({ uri }: { uri: string }) => uri)).toEqual(['belfry://status', `belfry://watch/${watch}`]);

    const wires = tap.wires();
    for (const { exchanges } of wires) expect(exchanges[0]!.method).toBe(opening);
    expect(levelOf(wires)).toBe(level);
    expect(home.door.refused).toEqual([]);
    await nobodyStays(world, home);
  });
});
