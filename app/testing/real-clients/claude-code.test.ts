import { expect, test } from 'vitest';
import { nativeFile } from '../../engine/host.ts';
import { startWorld } from '../world.ts';
import { describeClient } from './describe-client.ts';
import { EmptyHome, onTerminal } from './empty-home.ts';
import { mailScript, nobodyStays, playMailTurn } from './mail-turn.ts';
import { messagesApi } from './messages-api.ts';
import { ModelStandIn } from './model-stand-in.ts';
import { levelOf, WireTap } from './wire-tap.ts';

const PUSH = 'notifications/claude/channel';
const KEY = 'sk-ant-made-up';
const homeOf = (url: string) => EmptyHome.make({ ANTHROPIC_API_KEY: KEY, ANTHROPIC_BASE_URL: url, CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' });
const named = (tool: string) => `mcp__belfry__${tool}`;
/** Both ways in which the entry can be written; the README and Wiring name them. */
const modes = [['events', []], ['channel', ['--channel']]] as const;

await describeClient('claude-code', (command) => {
  test('"mcp add" takes the entry as documented, and "mcp list" says that it is connected, with and without the channel', async () => {
    await using world = await startWorld();
    await using home = await homeOf('http://127.0.0.1:9');
    for (const [name, flags] of modes) {
      const added = await home.run([...command, 'mcp', 'add', '--scope', 'user', '--transport', 'stdio', name, '--', nativeFile('belfry-mcp'), '--client=claude-code', ...flags, '--socket', world.engine.socketPath]);
      expect(added, added.stderr).toMatchObject({ code: 0 });
    }
    // It gives up on the tools after some seconds, and on a busy machine telling a program of 400 MB by its hash takes longer, once.
    await expect.poll(async () => (await home.run([...command, 'mcp', 'list'])).stdout, { timeout: 120_000 }).toMatch(/^events: .*belfry-mcp --client=claude-code --socket .* ✔ Connected\nchannel: .*belfry-mcp --client=claude-code --channel --socket .* ✔ Connected$/m);
    expect(home.door.refused).toEqual([]);
    await nobodyStays(world, home);
  });

  test.each(modes)('a whole turn in %s mode: the model waits with our tool, and the mail that arrives comes before it', async (mode, flags) => {
    await using world = await startWorld();
    // It keeps tools of servers back until the model looks for them.
    const search = { tool: 'ToolSearch', input: { query: `select:${['watch_events', 'wait_for_events', 'check_inbox'].map(named).join(',')}`, max_results: 3 } };
    await using model = await ModelStandIn.listen(messagesApi, [search, ...mailScript(named)]);
    await using home = await homeOf(model.url);
    const tap = new WireTap(home);
    const config = home.write('servers.json', JSON.stringify({ mcpServers: { belfry: { command: tap.command, args: ['--client=claude-code', ...flags, '--socket', world.engine.socketPath] } } }));
    await playMailTurn(world, home, model, home.run([...command, '-p', '--mcp-config', config, '--strict-mcp-config', '--allowedTools', mailScript(named).map(({ tool }) => tool).join(','), '--', 'Wait for my mail.']), 1);
    expect(home.door.refused).toEqual([]);
    const wires = tap.wires();
    const [first, second] = wires[0]!.exchanges;
    expect(first).toMatchObject({ method: 'server/discover', request: { params: { _meta: { 'io.modelcontextprotocol/protocolVersion': '2026-07-28' } } } });
    if (mode === 'events') {
      expect(first!.answer).toMatchObject({ result: { capabilities: { extensions: { 'io.modelcontextprotocol/events': {} } } } });
      expect(wires.flatMap(({ notices }) => notices)).not.toContain(PUSH);
      expect(levelOf(wires)).toBe(3);
    } else {
      // Refused, so that it opens by the handshake on which it takes a channel.
      expect(first!.answer).toMatchObject({ error: { code: -32601 } });
      expect(second).toMatchObject({ method: 'initialize', request: { params: { protocolVersion: '2025-11-25' } }, answer: { result: { protocolVersion: '2025-11-25', capabilities: { experimental: { 'claude/channel': {} } } } } });
      expect(wires.flatMap(({ notices }) => notices)).toContain(PUSH);
      expect(levelOf(wires)).toBe(2);
    }
  });

  test('its log on a terminal: events mode declares no channel; channel mode does, and is skipped only because channels are not available offline (whether a push surfaces is not tested)', async () => {
    await using world = await startWorld();
    const log = async (flags: readonly string[]): Promise<string> => {
      await using home = await homeOf('http://127.0.0.1:9');
      const server = { type: 'stdio', command: nativeFile('belfry-mcp'), args: ['--client=claude-code', ...flags, '--socket', world.engine.socketPath] };
      // What a first start asks its user.
      home.write('.claude.json', JSON.stringify({
        hasCompletedOnboarding: true, theme: 'dark', customApiKeyResponses: { approved: [KEY], rejected: [] },
        projects: { [home.work]: { hasTrustDialogAccepted: true } }, mcpServers: { belfry: server },
      }));
      const session = home.start(onTerminal([...command, '--debug-file', home.at('debug.log'), '--dangerously-load-development-channels', 'server:belfry']));
      const word = /MCP server "belfry": (Channel notifications .*)/;
      await expect.poll(() => {
        // Confirms the flag, which is asked for at every start; at the prompt it does nothing.
        session.write('\r');
        return word.exec(home.read('debug.log'))?.[1] ?? session.stdout.slice(-2000);
      }, { timeout: 90_000, interval: 500 }).toMatch(/^Channel notifications/);
      session.kill();
      await nobodyStays(world, home);
      return word.exec(home.read('debug.log'))![1]!;
    };
    expect(await log([])).toBe('Channel notifications skipped: server did not declare claude/channel capability');
    expect(await log(['--channel'])).toBe('Channel notifications skipped: channels feature is not currently available');
  });
});
