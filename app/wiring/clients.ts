import { join } from 'node:path';
import type { Json } from './json-text.ts';
import { jsonText } from './json-text.ts';
import { jsonSettings } from './json-settings.ts';
import { commandLine } from './posix-quote.ts';
import type { ServerEntry, SettingsFormat } from './server-entry.ts';
import { tomlSettings, tomlTable } from './toml-settings.ts';

/** The name of our entry, unless the owner picks another one. */
export const KEY = 'belfry';

/** Where this Mac keeps things. Nothing is read from the process's own environment. */
export interface Folders {
  readonly home: string;
  readonly platform: NodeJS.Platform;
  /** Folders that environment variables move elsewhere, where the host knows of it. */
  readonly configHomes?: { readonly xdg?: string; readonly codex?: string; readonly claude?: string };
  /** Folders with app bundles. */
  readonly applications: readonly string[];
  /** Folders with commands. */
  readonly tools: readonly string[];
}

/** What a program needs to know of us. */
export interface Ours {
  readonly key: string;
  /** Absolute path of the helper. */
  readonly shim: string;
}

/** One program whose settings can name an MCP server (ui.md, Wiring). */
export interface Client {
  readonly id: string;
  readonly title: string;
  /** Settings files in the order in which they are looked at; the first one is made where there is none. */
  files(folders: Folders): readonly string[];
  /** Where in the file, in words. */
  readonly place: string;
  /** Null: the text is only shown to copy. */
  readonly write: { readonly format: SettingsFormat; entry(shim: string): ServerEntry } | null;
  readonly snippetFormat: 'json' | 'toml' | 'yaml';
  /** What shows that the program is here: its folders, apps and commands. */
  readonly signs: { folders(folders: Folders): readonly string[]; readonly apps: readonly string[]; readonly tools: readonly string[] };
  snippet(ours: Ours): string;
  addCommand(ours: Ours): string | null;
  link(ours: Ours): string | null;
  listenCommand(key: string): string | null;
  /** Brings its app to the front, started by the system and not as our child; null: it has no app, or none that answers to a link. */
  readonly appLink: string | null;
  /** How to start it in a terminal, to copy; null: it is no terminal program, or `listenCommand` starts it. */
  readonly startCommand: string | null;
  /** What makes it read its settings again, as a command to the owner. */
  readonly restart: string;
  /** What has to be known before it is added. */
  readonly note: string | null;
  /** It writes the file itself while it runs, so that a change may be lost. */
  readonly rewrites?: true;
}

const none = (): null => null;

function config(folders: Folders): string {
  return folders.configHomes?.xdg ?? join(folders.home, '.config');
}

/** Where macOS programs keep their data; elsewhere the configuration folder. */
function support(folders: Folders): string {
  return folders.platform === 'darwin' ? join(folders.home, 'Library', 'Application Support') : config(folders);
}

function plain(label: string, ...more: readonly string[]): (shim: string) => ServerEntry {
  return (shim) => ({ command: shim, args: [`--client=${label}`, ...more] });
}

function stdio(label: string, ...more: readonly string[]): (shim: string) => ServerEntry {
  return (shim) => ({ type: 'stdio', command: shim, args: [`--client=${label}`, ...more] });
}

function pretty(value: Json): string {
  return `${jsonText(value, { indent: '', unit: '  ', eol: '\n' })}\n`;
}

interface JsonClient extends Pick<Client, 'id' | 'title' | 'files' | 'signs' | 'restart'>, Partial<Pick<Client, 'write' | 'addCommand' | 'link' | 'listenCommand' | 'appLink' | 'startCommand' | 'note' | 'rewrites'>> {
  /** Where the map of servers is, from the root. */
  readonly at: readonly string[];
  entry(shim: string): ServerEntry;
}

/** A program with a map of servers in JSON. */
function jsonClient({ at, entry, ...client }: JsonClient): Client {
  return {
    place: at.join('.'),
    write: { format: jsonSettings(() => [at]), entry },
    snippetFormat: 'json',
    snippet: ({ key, shim }) => pretty(at.reduceRight<Json>((inner, name) => ({ [name]: inner }), { [key]: entry(shim) })),
    addCommand: none,
    link: none,
    listenCommand: none,
    appLink: null,
    startCommand: null,
    note: null,
    ...client,
  };
}

/** In version 2 of OpenCode's settings the servers are one level deeper; a server may still be called `servers`. */
function openCodePlaces(root: () => Json): readonly (readonly string[])[] {
  const mcp = objectOf(objectOf(root())?.mcp);
  const servers = objectOf(mcp?.servers);
  const nested = servers && Object.values(servers).every((value) => objectOf(value));
  return nested ? [['mcp', 'servers'], ['mcp']] : [['mcp']];
}

function openCodeEntry(shim: string): ServerEntry {
  return { type: 'local', command: [shim, '--client=opencode'] };
}

function objectOf(value: Json | undefined): { readonly [key: string]: Json } | null {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? value as { readonly [key: string]: Json } : null;
}

const claudeArguments = ['--client=claude-code', '--channel'];
const claudeEntry = stdio('claude-code', '--channel');
const listenCommand = (key: string): string => commandLine('claude', '--dangerously-load-development-channels', `server:${key}`);
const claudeSigns: Client['signs'] = {
  folders: ({ home, configHomes }) => [configHomes?.claude ?? join(home, '.claude')],
  apps: [],
  tools: ['claude'],
};

/** Facts checked November 2026 (ui.md, Wiring). */
export const clients: readonly Client[] = [
  jsonClient({
    id: 'claude-code',
    title: 'Claude Code',
    files: ({ home, configHomes }) => [join(configHomes?.claude ?? home, '.claude.json')],
    at: ['mcpServers'],
    signs: claudeSigns,
    entry: claudeEntry,
    addCommand: ({ key, shim }) => commandLine('claude', 'mcp', 'add', '--scope', 'user', '--transport', 'stdio', key, '--', shim, ...claudeArguments),
    listenCommand,
    restart: 'Start a new session',
  }),
  jsonClient({
    id: 'claude-code-project',
    title: 'Claude Code, one project',
    files: () => ['.mcp.json'],
    at: ['mcpServers'],
    write: null,
    signs: claudeSigns,
    entry: claudeEntry,
    addCommand: ({ key, shim }) => commandLine('claude', 'mcp', 'add', '--scope', 'project', '--transport', 'stdio', key, '--', shim, ...claudeArguments),
    listenCommand,
    restart: 'Start a new session',
    note: 'The file is shared with the project\'s repository, so it is only shown to copy.',
  }),
  jsonClient({
    id: 'claude-desktop',
    title: 'Claude Desktop',
    files: (folders) => [join(support(folders), 'Claude', 'claude_desktop_config.json')],
    at: ['mcpServers'],
    signs: { folders: (folders) => [join(support(folders), 'Claude')], apps: ['Claude.app'], tools: [] },
    entry: plain('claude-desktop'),
    appLink: 'claude://claude.ai/new',
    restart: 'Quit Claude Desktop fully and open it again',
    rewrites: true,
  }),
  {
    id: 'codex',
    title: 'Codex',
    files: ({ home, configHomes }) => [join(configHomes?.codex ?? join(home, '.codex'), 'config.toml')],
    place: 'mcp_servers',
    write: { format: tomlSettings(['mcp_servers']), entry: plain('codex') },
    snippetFormat: 'toml',
    signs: { folders: ({ home, configHomes }) => [configHomes?.codex ?? join(home, '.codex')], apps: ['Codex.app'], tools: ['codex'] },
    snippet: ({ key, shim }) => tomlTable(['mcp_servers', key], plain('codex')(shim), '\n'),
    addCommand: ({ key, shim }) => commandLine('codex', 'mcp', 'add', key, '--', shim, '--client=codex'),
    link: none,
    listenCommand: none,
    appLink: 'codex://',
    startCommand: 'codex',
    restart: 'Start a new Codex session',
    note: null,
  },
  jsonClient({
    id: 'cursor',
    title: 'Cursor',
    files: ({ home }) => [join(home, '.cursor', 'mcp.json')],
    at: ['mcpServers'],
    signs: { folders: ({ home }) => [join(home, '.cursor')], apps: ['Cursor.app'], tools: ['cursor'] },
    entry: plain('cursor'),
    link: ({ key, shim }) => `cursor://anysphere.cursor-deeplink/mcp/install?name=${encodeURIComponent(key)}&config=${base64(plain('cursor')(shim))}`,
    appLink: 'cursor://',
    restart: 'Restart Cursor',
  }),
  jsonClient({
    id: 'vscode',
    title: 'VS Code',
    files: (folders) => [join(support(folders), 'Code', 'User', 'mcp.json')],
    at: ['servers'],
    signs: { folders: (folders) => [join(support(folders), 'Code')], apps: ['Visual Studio Code.app'], tools: ['code'] },
    entry: stdio('vscode'),
    addCommand: ({ key, shim }) => commandLine('code', '--add-mcp', JSON.stringify({ name: key, ...plain('vscode')(shim) })),
    link: ({ key, shim }) => `vscode:mcp/install?${encodeURIComponent(JSON.stringify({ name: key, ...stdio('vscode')(shim) }))}`,
    appLink: 'vscode://',
    restart: 'Restart VS Code',
  }),
  jsonClient({
    id: 'gemini',
    title: 'Gemini CLI',
    files: ({ home }) => [join(home, '.gemini', 'settings.json')],
    at: ['mcpServers'],
    signs: { folders: ({ home }) => [join(home, '.gemini')], apps: [], tools: ['gemini'] },
    entry: plain('gemini'),
    // Without our arguments: the command takes an argument that starts with a dash for its own.
    addCommand: ({ key, shim }) => commandLine('gemini', 'mcp', 'add', '-s', 'user', key, shim),
    startCommand: 'gemini',
    restart: 'Start Gemini CLI again',
    note: 'Gemini CLI works with API keys and business accounts only.',
  }),
  jsonClient({
    id: 'antigravity',
    title: 'Antigravity',
    files: ({ home }) => [join(home, '.gemini', 'config', 'mcp_config.json')],
    at: ['mcpServers'],
    signs: { folders: ({ home }) => [join(home, '.gemini', 'config'), join(home, '.gemini', 'antigravity')], apps: ['Antigravity.app'], tools: ['agy'] },
    entry: plain('antigravity'),
    addCommand: ({ key, shim }) => commandLine('agy', 'mcp', 'add', key, '--', shim, '--client=antigravity'),
    appLink: 'antigravity://',
    startCommand: 'agy',
    restart: 'Restart Antigravity',
  }),
  {
    id: 'goose',
    title: 'Goose',
    files: (folders) => [join(config(folders), 'goose', 'config.yaml')],
    place: 'extensions',
    write: null,
    snippetFormat: 'yaml',
    signs: { folders: (folders) => [join(config(folders), 'goose')], apps: ['Goose.app'], tools: ['goose'] },
    // JSON's text and lists are YAML's too.
    snippet: ({ key, shim }) => [
      'extensions:', `  ${key}:`, '    type: stdio', `    name: ${key}`, `    cmd: ${yamlText(shim)}`, '    args: ["--client=goose"]', '    enabled: true', '    timeout: 300', '',
    ].join('\n'),
    addCommand: none,
    link: none,
    listenCommand: none,
    appLink: null,
    startCommand: null,
    restart: 'Start a new Goose session',
    note: null,
  },
  jsonClient({
    id: 'zed',
    title: 'Zed',
    files: (folders) => [join(config(folders), 'zed', 'settings.json')],
    at: ['context_servers'],
    signs: { folders: (folders) => [join(config(folders), 'zed')], apps: ['Zed.app'], tools: ['zed'] },
    // Copied only, while its path is not confirmed (ui.md, Wiring).
    write: null,
    entry: plain('zed'),
    restart: 'Restart Zed',
  }),
  jsonClient({
    id: 'windsurf',
    title: 'Windsurf',
    files: ({ home }) => [join(home, '.codeium', 'windsurf', 'mcp_config.json')],
    at: ['mcpServers'],
    signs: { folders: ({ home }) => [join(home, '.codeium', 'windsurf')], apps: ['Windsurf.app'], tools: ['windsurf'] },
    entry: plain('windsurf'),
    appLink: 'windsurf://',
    restart: 'Restart Windsurf',
  }),
  jsonClient({
    id: 'devin',
    title: 'Devin',
    files: (folders) => [join(config(folders), 'devin', 'mcp_config.json')],
    at: ['mcpServers'],
    signs: { folders: (folders) => [join(config(folders), 'devin')], apps: ['Devin.app'], tools: ['devin'] },
    entry: plain('devin'),
    addCommand: ({ key, shim }) => commandLine('devin', 'mcp', 'add', '-s', 'user', key, '--', shim, '--client=devin'),
    startCommand: 'devin',
    restart: 'Restart Devin',
  }),
  {
    id: 'continue',
    title: 'Continue',
    files: ({ home }) => [join(home, '.continue', 'config.yaml')],
    place: 'mcpServers',
    write: null,
    snippetFormat: 'yaml',
    signs: { folders: ({ home }) => [join(home, '.continue')], apps: [], tools: [] },
    snippet: ({ key, shim }) => ['mcpServers:', `  - name: ${key}`, '    type: stdio', `    command: ${yamlText(shim)}`, '    args: ["--client=continue"]', ''].join('\n'),
    addCommand: none,
    link: none,
    listenCommand: none,
    appLink: null,
    startCommand: null,
    restart: 'Reload Continue',
    note: null,
  },
  jsonClient({
    id: 'opencode',
    title: 'OpenCode',
    files: (folders) => ['opencode.json', 'opencode.jsonc'].map((name) => join(config(folders), 'opencode', name)),
    at: ['mcp'],
    write: { format: jsonSettings(openCodePlaces), entry: openCodeEntry },
    signs: { folders: (folders) => [join(config(folders), 'opencode')], apps: ['OpenCode.app'], tools: ['opencode'] },
    entry: openCodeEntry,
    addCommand: ({ key, shim }) => commandLine('opencode', 'mcp', 'add', key, '--global', '--', shim, '--client=opencode'),
    appLink: 'opencode://',
    startCommand: 'opencode',
    restart: 'Start OpenCode again',
  }),
  jsonClient({
    id: 'lm-studio',
    title: 'LM Studio',
    files: ({ home }) => [join(home, '.lmstudio', 'mcp.json')],
    at: ['mcpServers'],
    signs: { folders: ({ home }) => [join(home, '.lmstudio')], apps: ['LM Studio.app'], tools: ['lms'] },
    entry: plain('lm-studio'),
    link: ({ key, shim }) => `lmstudio://add_mcp?name=${encodeURIComponent(key)}&config=${base64(plain('lm-studio')(shim))}`,
    appLink: 'lmstudio://',
    restart: 'Restart LM Studio',
  }),
];

function base64(entry: ServerEntry): string {
  return encodeURIComponent(Buffer.from(JSON.stringify(entry)).toString('base64'));
}

/** A double-quoted text: what JSON escapes, YAML reads the same way; DEL and C1 it wants escaped too. */
function yamlText(value: string): string {
  return JSON.stringify(value).replaceAll(/[\u007f-\u009f\u2028\u2029\ufeff]/gu, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`);
}
