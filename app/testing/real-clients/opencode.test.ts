import { expect, test } from 'vitest';
import { startWorld } from '../world.ts';
import { describeClient } from './describe-client.ts';
import { EmptyHome } from './empty-home.ts';
import { mailScript, playMailTurn } from './mail-turn.ts';
import { messagesApi } from './messages-api.ts';
import { ModelStandIn } from './model-stand-in.ts';
import { levelOf, WireTap } from './wire-tap.ts';

await describeClient('opencode', (command) => {
  test('"mcp list" says that the documented entry is connected, and in a whole turn the mail that arrives comes before the waiting model', async () => {
    await using world = await startWorld();
    await using model = await ModelStandIn.listen(messagesApi, mailScript((tool) => `belfry_${tool}`));
    await using home = await EmptyHome.make({ OPENCODE_DISABLE_MODELS_FETCH: '1' });
    const tap = new WireTap(home);
    home.write('.config/opencode/opencode.json', JSON.stringify({
      autoupdate: false, share: 'disabled', model: 'anthropic/made-up',
      provider: { anthropic: { options: { baseURL: `${model.url}/v1`, apiKey: 'made-up' }, models: { 'made-up': {} } } },
      mcp: { belfry: { type: 'local', command: [tap.command, '--client=opencode', '--socket', world.engine.socketPath] } },
    }));
    const listed = await home.run([...command, 'mcp', 'list']);
    expect(listed.stdout + listed.stderr).toMatch(/belfry .*connected/);
    await playMailTurn(world, home, model, home.run([...command, 'run', 'Wait for my mail.']));
    expect(levelOf(tap.wires())).toBe(2);
  });
});
