import { expect, test } from 'vitest';
import { startWorld } from '../world.ts';
import { describeClient } from './describe-client.ts';
import { EmptyHome } from './empty-home.ts';
import { mailScript, playMailTurn } from './mail-turn.ts';
import { ModelStandIn } from './model-stand-in.ts';
import { responsesApi } from './responses-api.ts';
import { levelOf, WireTap } from './wire-tap.ts';

await describeClient('codex', (command) => {
  test('"mcp add" takes the entry as documented, and in a whole turn the mail that arrives comes before the waiting model', async () => {
    await using world = await startWorld();
    const named = (tool: string) => `mcp__belfry.${tool}`;
    await using model = await ModelStandIn.listen(responsesApi, mailScript(named));
    await using home = await EmptyHome.make();
    home.write('.codex/config.toml', [
      'model = "made-up"', 'model_provider = "stand-in"',
      '[model_providers.stand-in]', 'name = "stand-in"', `base_url = "${model.url}/v1"`, 'wire_api = "responses"', '',
    ].join('\n'));
    const tap = new WireTap(home);
    const added = await home.run([...command, 'mcp', 'add', 'belfry', '--', tap.command, '--client=codex', '--socket', world.engine.socketPath]);
    expect(added, added.stderr).toMatchObject({ code: 0 });
    // Without "required" it may ask its model before the servers are there.
    await playMailTurn(world, home, model, home.run([...command, 'exec', '--skip-git-repo-check', '-c', 'mcp_servers.belfry.required=true', 'Wait for my mail.']));
    const wires = tap.wires();
    expect(wires.flatMap(({ exchanges }) => exchanges)[0]).toMatchObject({ method: 'initialize', request: { params: { protocolVersion: '2025-06-18' } } });
    expect(levelOf(wires)).toBe(2);
  });
});
