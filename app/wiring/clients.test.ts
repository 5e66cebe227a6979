import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { parse, type ParseError } from 'jsonc-parser';
import { clients, type Client } from './clients.ts';
import { parseToml, tomlValue } from './toml.ts';

const shim = "/Applications/It's my \"Belfry\" \\.app/Contents/MacOS/belfry-mcp";
const plainShim = "/Applications/It's my Belfry.app/Contents/MacOS/belfry-mcp";
const key = 'belfry';

/** What each program's entry is, from the Wiring table of ui.md. */
const entries: Readonly<Record<string, (path: string) => unknown>> = {
  'claude-code': (path) => ({ mcpServers: { belfry: { type: 'stdio', command: path, args: ['--client=claude-code', '--channel'] } } }),
  'claude-code-project': (path) => ({ mcpServers: { belfry: { type: 'stdio', command: path, args: ['--client=claude-code', '--channel'] } } }),
  'claude-desktop': (path) => ({ mcpServers: { belfry: { command: path, args: ['--client=claude-desktop'] } } }),
  codex: (path) => ({ mcp_servers: { belfry: { command: path, args: ['--client=codex'] } } }),
  cursor: (path) => ({ mcpServers: { belfry: { command: path, args: ['--client=cursor'] } } }),
  vscode: (path) => ({ servers: { belfry: { type: 'stdio', command: path, args: ['--client=vscode'] } } }),
  gemini: (path) => ({ mcpServers: { belfry: { command: path, args: ['--client=gemini'] } } }),
  antigravity: (path) => ({ mcpServers: { belfry: { command: path, args: ['--client=antigravity'] } } }),
  goose: (path) => ({ extensions: { belfry: { type: 'stdio', name: 'belfry', cmd: path, args: ['--client=goose'], enabled: 'true', timeout: '300' } } }),
  zed: (path) => ({ context_servers: { belfry: { command: path, args: ['--client=zed'] } } }),
  windsurf: (path) => ({ mcpServers: { belfry: { command: path, args: ['--client=windsurf'] } } }),
  devin: (path) => ({ mcpServers: { belfry: { command: path, args: ['--client=devin'] } } }),
  continue: (path) => ({ mcpServers: [{ name: 'belfry', type: 'stdio', command: path, args: ['--client=continue'] }] }),
  opencode: (path) => ({ mcp: { belfry: { type: 'local', command: [path, '--client=opencode'] } } }),
  'lm-studio': (path) => ({ mcpServers: { belfry: { command: path, args: ['--client=lm-studio'] } } }),
};

function client(id: string): Client {
  const found = clients.find((candidate) => candidate.id === id);
  if (!found) throw new Error(id);
  return found;
}

/**
 * The part of YAML that a snippet may use: maps by two-space indentation, a list of maps, scalars that are plain words, or
 * JSON text (every JSON value is one in YAML). Anything else fails.
 */
function blockYaml(text: string): unknown {
  const lines = text.split('\n');
  expect(lines.pop()).toBe('');
  let at = 0;
  const scalar = (value: string): unknown => {
    if (/^["[]/u.test(value)) return JSON.parse(value);
    expect(value).toMatch(/^[A-Za-z0-9_-]+$/u);
    return value;
  };
  const block = (indent: string): unknown => {
    const map: Record<string, unknown> = {};
    const list: unknown[] = [];
    while (at < lines.length) {
      const line = lines[at]!;
      const item = line.startsWith(`${indent}- `);
      if (item) {
        // The list's item is a map whose first line carries the dash.
        lines[at] = `${indent}  ${line.slice(indent.length + 2)}`;
        list.push(block(`${indent}  `));
        continue;
      }
      const match = new RegExp(`^${indent}([A-Za-z_-]+):(?: (.+))?$`, 'u').exec(line);
      if (!match) break;
      at += 1;
      map[match[1]!] = match[2] === undefined ? block(`${indent}  `) : scalar(match[2]);
    }
    return list.length > 0 ? list : map;
  };
  const value = block('');
  expect(at).toBe(lines.length);
  return value;
}

test('the reader for YAML refuses what it does not know', () => {
  expect(blockYaml('a:\n  - b: "x y"\n    c: ["d"]\n')).toEqual({ a: [{ b: 'x y', c: ['d'] }] });
  for (const text of ['a: b c\n', 'a: \'x\'\n', 'a: {}\n', 'a:\n   b: c\n', 'a: b', '? a\n']) expect(() => blockYaml(text)).toThrow();
});

test('the settings of the others are edited; these are only copied', () => {
  expect(clients.filter(({ write }) => write === null).map(({ id }) => id)).toEqual(['claude-code-project', 'goose', 'zed', 'continue']);
});

test('the table has every program', () => {
  expect(clients.map(({ id }) => id).sort()).toEqual(Object.keys(entries).sort());
});

test.each(clients.flatMap((client) => [[client.id, plainShim], [client.id, shim]] as const))('U12: the text to copy for %s parses and brings %j back', (id, path) => {
  const text = client(id).snippet({ key, shim: path });
  const expected = entries[id]!(path);
  switch (client(id).snippetFormat) {
    case 'json':
      expect(JSON.parse(text)).toEqual(expected);
      break;
    case 'toml':
      expect(JSON.parse(JSON.stringify(tomlValue(parseToml(text).root)))).toEqual(expected);
      break;
    case 'yaml':
      expect(blockYaml(text)).toEqual(expected);
      break;
  }
});

test.each([
  ['claude-code', ['claude', 'mcp', 'add', '--scope', 'user', '--transport', 'stdio', key, '--', shim, '--client=claude-code', '--channel']],
  ['claude-code-project', ['claude', 'mcp', 'add', '--scope', 'project', '--transport', 'stdio', key, '--', shim, '--client=claude-code', '--channel']],
  ['codex', ['codex', 'mcp', 'add', key, '--', shim, '--client=codex']],
  ['vscode', ['code', '--add-mcp', JSON.stringify({ name: key, command: shim, args: ['--client=vscode'] })]],
  ['gemini', ['gemini', 'mcp', 'add', '-s', 'user', key, shim]],
  ['antigravity', ['agy', 'mcp', 'add', key, '--', shim, '--client=antigravity']],
  ['devin', ['devin', 'mcp', 'add', '-s', 'user', key, '--', shim, '--client=devin']],
  ['opencode', ['opencode', 'mcp', 'add', key, '--global', '--', shim, '--client=opencode']],
])('U12: the command for %s reaches the program word by word', (id, words) => {
  const line = client(id).addCommand({ key, shim })!;
  expect(line).not.toContain('\n');
  // A stand-in takes the program's place, so that nothing is run but the shell's own reading of the line.
  const { stdout, stderr } = spawnSync('/bin/sh', ['-c', `${words[0]}() { printf '%s\\0' ${words[0]} "$@"; }; ${line}`], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(stdout.split('\0').slice(0, -1)).toEqual(words);
});

test('only programs with a known command have one', () => {
  const without = clients.filter((candidate) => candidate.addCommand({ key, shim }) === null).map(({ id }) => id);
  expect(without).toEqual(['claude-desktop', 'cursor', 'goose', 'zed', 'windsurf', 'continue', 'lm-studio']);
});

test.each([
  ['cursor', 'cursor:', '//anysphere.cursor-deeplink/mcp/install'], ['lm-studio', 'lmstudio:', '//add_mcp'],
])('U12: the link for %s decodes back to the entry', (id, protocol, path) => {
  const link = new URL(client(id).link({ key: 'a-b_1', shim })!);
  expect([link.protocol, `//${link.host}${link.pathname}`]).toEqual([protocol, path]);
  expect([...link.searchParams.keys()]).toEqual(['name', 'config']);
  expect(link.searchParams.get('name')).toBe('a-b_1');
  const config: unknown = JSON.parse(Buffer.from(link.searchParams.get('config')!, 'base64').toString('utf8'));
  expect(config).toEqual({ command: shim, args: [`--client=${id}`] });
});

test('a link\'s base64 survives as a query value whatever the path is', () => {
  // Both paths give base64 with characters that mean something in a query.
  for (const path of ['/a/???>>>~~~', '/ÿÿÿ/þþþ/>>>']) {
    const link = client('cursor').link({ key, shim: path })!;
    expect(link.slice(link.indexOf('?'))).toMatch(/^\?name=belfry&config=[A-Za-z0-9%]+$/u);
    expect(JSON.parse(Buffer.from(new URL(link).searchParams.get('config')!, 'base64').toString('utf8'))).toEqual({ command: path, args: ['--client=cursor'] });
  }
});

test('U12: the link for VS Code decodes back to the entry', () => {
  const link = client('vscode').link({ key, shim })!;
  expect(link.startsWith('vscode:mcp/install?')).toBe(true);
  expect(JSON.parse(decodeURIComponent(link.slice(link.indexOf('?') + 1)))).toEqual({ name: key, type: 'stdio', command: shim, args: ['--client=vscode'] });
});

test('only Claude Code has to be started in a certain way', () => {
  const commands = clients.map((candidate) => candidate.listenCommand('belfry-2')).filter((command) => command !== null);
  expect(new Set(commands)).toEqual(new Set(['claude --dangerously-load-development-channels server:belfry-2']));
});

test('no secret and no environment is written', () => {
  for (const { snippet } of clients) expect(snippet({ key, shim })).not.toMatch(/env|token|secret/iu);
});

test('files stand where ui.md says', () => {
  const folders = { home: '/Users/ada', platform: 'darwin' as const, applications: [], tools: [] };
  expect(Object.fromEntries(clients.map((candidate) => [candidate.id, candidate.files(folders)]))).toEqual({
    'claude-code': ['/Users/ada/.claude.json'],
    'claude-code-project': ['.mcp.json'],
    'claude-desktop': ['/Users/ada/Library/Application Support/Claude/claude_desktop_config.json'],
    codex: ['/Users/ada/.codex/config.toml'],
    cursor: ['/Users/ada/.cursor/mcp.json'],
    vscode: ['/Users/ada/Library/Application Support/Code/User/mcp.json'],
    gemini: ['/Users/ada/.gemini/settings.json'],
    antigravity: ['/Users/ada/.gemini/config/mcp_config.json'],
    goose: ['/Users/ada/.config/goose/config.yaml'],
    zed: ['/Users/ada/.config/zed/settings.json'],
    windsurf: ['/Users/ada/.codeium/windsurf/mcp_config.json'],
    devin: ['/Users/ada/.config/devin/mcp_config.json'],
    continue: ['/Users/ada/.continue/config.yaml'],
    opencode: ['/Users/ada/.config/opencode/opencode.json', '/Users/ada/.config/opencode/opencode.jsonc'],
    'lm-studio': ['/Users/ada/.lmstudio/mcp.json'],
  });
  const moved = { ...folders, configHomes: { xdg: '/x', codex: '/c', claude: '/l' } };
  expect(['claude-code', 'codex', 'zed'].map((id) => client(id).files(moved)[0])).toEqual(['/l/.claude.json', '/c/config.toml', '/x/zed/settings.json']);
  expect(client('vscode').files({ ...folders, home: '/home/ada', platform: 'linux' })).toEqual(['/home/ada/.config/Code/User/mcp.json']);
});

test('OpenCode\'s newer settings have the servers one level deeper', () => {
  const format = client('opencode').write!.format;
  const place = (text: string): string => format.place(text).join('.');
  expect(place('')).toBe('mcp');
  expect(place('{"mcp":{"a":{"type":"local","command":["x"]}}}')).toBe('mcp');
  expect(place('{"mcp":{"servers":{"a":{"type":"local","command":["x"]}}}}')).toBe('mcp.servers');
  // Here `servers` is a server's name.
  expect(place('{"mcp":{"servers":{"type":"local","command":["x"]}}}')).toBe('mcp');
  expect(place('{"mcp":{"servers":{"enabled":false}}}')).toBe('mcp');
  const errors: ParseError[] = [];
  expect(parse(format.add('{"mcp":{"servers":{}}}', ['mcp', 'servers'], key, { type: 'local' }), errors)).toEqual({ mcp: { servers: { belfry: { type: 'local' } } } });
  expect(errors).toEqual([]);
});

test('what opens an app is a bare link of its own scheme: nothing of ours and no command is in it', () => {
  const links = Object.fromEntries(clients.flatMap(({ id, appLink }) => (appLink === null ? [] : [[id, appLink]])));
  expect(links).toEqual({
    'claude-desktop': 'claude://claude.ai/new', codex: 'codex://', cursor: 'cursor://', vscode: 'vscode://', antigravity: 'antigravity://',
    windsurf: 'windsurf://', opencode: 'opencode://', 'lm-studio': 'lmstudio://',
  });
  for (const link of Object.values(links)) expect(new URL(link)).toMatchObject({ search: '', hash: '', username: '', password: '' });
});

test('a program that is set up can be started by its app, by a command to copy, or by both', () => {
  const none = clients.filter(({ write, appLink, startCommand, listenCommand }) => write !== null && appLink === null && startCommand === null && listenCommand('belfry') === null);
  expect(none.map(({ id }) => id)).toEqual([]);
  expect(clients.flatMap(({ startCommand }) => startCommand ?? [])).toEqual(['codex', 'gemini', 'agy', 'devin', 'opencode']);
});
