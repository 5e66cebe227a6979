import { expect, test } from 'vitest';
import { startWorld } from '../world.ts';
import { describeClient } from './describe-client.ts';
import { EmptyHome } from './empty-home.ts';
import { geminiApi } from './gemini-api.ts';
import { mailScript, playMailTurn } from './mail-turn.ts';
import { ModelStandIn } from './model-stand-in.ts';
import { levelOf, WireTap } from './wire-tap.ts';

/** A named model is asked at once; without a name it first asks another which one to take. */
const MODEL = 'gemini-2.5-pro';

await describeClient('gemini-cli', (command) => {
  test('"mcp add" takes the entry as documented, "mcp list" says that it is connected, and in a whole turn the mail that arrives comes before the waiting model', async () => {
    await using world = await startWorld();
    await using model = await ModelStandIn.listen(geminiApi(MODEL), mailScript((tool) => `mcp_belfry_${tool}`));
    await using home = await EmptyHome.make({ GEMINI_API_KEY: 'made-up', GOOGLE_GEMINI_BASE_URL: model.url, GEMINI_CLI_TRUST_WORKSPACE: 'true' });
    home.write('.gemini/settings.json', JSON.stringify({ security: { auth: { selectedType: 'gemini-api-key' } }, privacy: { usageStatisticsEnabled: false } }));
    const tap = new WireTap(home);
    const added = await home.run([...command, 'mcp', 'add', '-s', 'user', 'belfry', tap.command, '--', '--client=gemini-cli', '--socket', world.engine.socketPath]);
    expect(added, added.stderr).toMatchObject({ code: 0 });
    const listed = await home.run([...command, 'mcp', 'list']);
    expect(listed.stdout + listed.stderr).toMatch(/belfry: .*belfry-mcp --client=gemini-cli .*Connected/);
    await playMailTurn(world, home, model, home.run([...command, '-m', MODEL, '--approval-mode', 'yolo', '-p', 'Wait for my mail.']));
    expect(home.door.refused).toEqual([]);
    expect(tap.wires().flatMap(({ exchanges }) => exchanges)[0]).toMatchObject({ method: 'initialize', request: { params: { protocolVersion: '2025-06-18' } } });
    expect(levelOf(tap.wires())).toBe(2);
  });
});
