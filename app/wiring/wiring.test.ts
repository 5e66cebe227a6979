import { chmodSync, existsSync, lstatSync, mkdirSync, readdirSync, readFileSync, readlinkSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { describe, expect, test } from 'vitest';
import { asNobody } from '../testing/as-nobody.ts';
import { clients } from './clients.ts';
import { cursor, mac, shim } from '../testing/wiring-home.ts';
import { listWirings, removeAll, removeAllPreview, wiringAppLink, wiringFile, wiringLink } from './wiring.ts';

const writable = clients.filter(({ write }) => write !== null);
const BOM = '\ufeff';
const jsonFiles: readonly (readonly [string, string])[] = [
  ['empty', ''],
  ['only blanks', ' \n\n'],
  ['only a byte order mark', BOM],
  ['an empty object', '{}'],
  ['an empty object with blanks', '{ \n\n }\n'],
  ['only a comment', '// none yet'],
  ['one line', '{"a":1,"b":[1,[2]]}'],
  ['no final newline', '{\n  "a": 1\n}'],
  ['tabs', '{\n\t"a": {\n\t\t"b": 1\n\t}\n}\n'],
  ['CRLF', '{\r\n  "a": 1\r\n}\r\n'],
  ['a byte order mark and CRLF', `${BOM}{\r\n  "a": 1\r\n}\r\n`],
  ['comments and trailing commas', '// top\n{\n  "a": 1, // one\n  /* two */ "b": [1, 2,],\n}\n// end'],
  ['other servers', '{\n  "mcpServers": {\n    "x": { "command": "y", "env": { "K": "v" } }\n  },\n  "servers": { "x": {} },\n  "context_servers": {\n    "x": {}\n  },\n  "mcp": {\n    "x": {\n      "type": "remote"\n    }\n  }\n}\n'],
  ['empty maps', '{ "mcpServers": { }, "servers": {\n}, "context_servers": {/**/}, "mcp": {} }'],
  ['unicode', '{ "grüße": "日本語 👩‍👩‍👧", "mcpServers": { "ключ": {} } }'],
];
const tomlFiles: readonly (readonly [string, string])[] = [
  ['empty', ''], ['only a byte order mark', BOM], ['only a comment', '# none yet'], ['no final newline', 'model = "x"'], ['blank lines at the end', 'model = "x"\n\n\n'],
  ['CRLF', 'model = "x"\r\n[a]\r\nb = 1\r\n'], ['a byte order mark', `${BOM}model = "x"\n`], ['other servers', '[mcp_servers.x]\ncommand = "y"\n[mcp_servers.x.env]\nK = "v"\n'],
  ['dotted keys', 'mcp_servers.x.command = "y"'], ['unicode and tabs', '"grüße" = "日本語 👩‍👩‍👧"\n\t[a]\n\tb = 1'],
];

describe('U12: write, then remove', () => {
  const cases = writable.flatMap((client) => (client.snippetFormat === 'toml' ? tomlFiles : jsonFiles).map(([label, text]) => [client.id, label, text] as const));
  test.each(cases)('%s gives a file back byte for byte: %s', (id, _label, text) => {
    using here = mac();
    const file = here.put(clients.find((client) => client.id === id)!.files({ home: '', platform: 'darwin', applications: [], tools: [] })[0]!, text);
    chmodSync(file, 0o640);
    expect(here.make(id, 'add')).toMatchObject({ ok: true, changed: true });
    expect(here.row(id)).toMatchObject({ state: 'set-up', sentence: null, backup: file.slice(dirname(file).length + 1) + '.belfry-backup' });
    expect(readFileSync(`${file}.belfry-backup`, 'utf8')).toBe(text);
    expect(here.make(id, 'remove')).toMatchObject({ ok: true, changed: true });
    expect(readFileSync(file)).toEqual(Buffer.from(text));
    expect(statSync(file).mode & 0o777).toBe(0o640);
    expect(here.row(id).state).toBe('not-set-up');
    expect(readdirSync(dirname(file)).filter((name) => name.endsWith('.tmp'))).toEqual([]);
  });

  test.each(writable.map(({ id }) => [id]))('%s: a file that was not there is made for its owner alone, and goes again', (id) => {
    using here = mac();
    const client = clients.find((candidate) => candidate.id === id)!;
    const folders = { home: here.folder.path, platform: 'darwin' as const, applications: [], tools: [] };
    mkdirSync(client.signs.folders(folders)[0]!, { recursive: true });
    const file = client.files(folders)[0]!;
    expect(here.row(id).state).toBe('not-set-up');
    expect(here.make(id, 'add')).toEqual({ ok: true, changed: true, sentence: `Added to ${client.title}. ${client.restart} to pick this up.` });
    expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(existsSync(`${file}.belfry-backup`)).toBe(false);
    expect(here.desk.preview(here.env, id, 'remove')).toMatchObject({ ok: true, sentence: expect.stringContaining('The file held nothing else, so it is removed.') });
    expect(here.make(id, 'remove')).toEqual({ ok: true, changed: true, sentence: `Removed from ${client.title}. ${client.restart} to let it go.` });
    expect(existsSync(file)).toBe(false);
  });

  test('what another program wrote meanwhile stays', () => {
    using here = mac();
    const file = here.put(cursor, '{\n  "a": 1 // keep\n}\n');
    here.make('cursor', 'add');
    writeFileSync(file, readFileSync(file, 'utf8').replace('"a": 1', '"a": 2'));
    here.make('cursor', 'remove');
    expect(readFileSync(file, 'utf8')).toBe('{\n  "a": 2, // keep\n  "mcpServers": {}\n}\n');
  });

  test('a file with only our entry goes only if nothing of the owner\'s was in it', () => {
    using here = mac();
    const file = here.put(cursor, '');
    here.make('cursor', 'add');
    here.make('cursor', 'remove');
    expect(readFileSync(file, 'utf8')).toBe('');
    rmSync(file);
    rmSync(`${file}.belfry-backup`);
    here.make('cursor', 'add');
    writeFileSync(file, readFileSync(file, 'utf8').replace('{', '{ // mine'));
    here.make('cursor', 'remove');
    expect(readFileSync(file, 'utf8')).toBe('{ // mine\n  "mcpServers": {}\n}\n');
  });
});

describe('the change is shown first', () => {
  test('with the lines that it adds, and nothing is written', () => {
    using here = mac();
    const file = here.put(cursor, '{\n  "mcpServers": {\n    "x": {}\n  }\n}\n');
    const preview = here.desk.preview(here.env, 'cursor', 'add');
    expect(preview).toEqual({
      ok: true,
      token: expect.any(String),
      file: '~/.cursor/mcp.json',
      sentence: null,
      lines: [
        { kind: 'same', text: '{' }, { kind: 'same', text: '  "mcpServers": {' },
        { kind: 'removed', text: '    "x": {}' }, { kind: 'added', text: '    "x": {},' },
        { kind: 'added', text: '    "belfry": {' }, { kind: 'added', text: `      "command": "${shim}",` }, { kind: 'added', text: '      "args": ["--client=cursor"]' },
        { kind: 'added', text: '    }' }, { kind: 'same', text: '  }' }, { kind: 'same', text: '}' },
      ],
    });
    expect(readFileSync(file, 'utf8')).toBe('{\n  "mcpServers": {\n    "x": {}\n  }\n}\n');
    expect(readdirSync(dirname(file))).toEqual(['mcp.json']);
  });

  test('a change can be made once, for a quarter of an hour', () => {
    using here = mac();
    here.put(cursor, '{}');
    const gone = { ok: false, code: 'unknown', message: 'This change is no longer on offer. Look at it again.' };
    const first = here.desk.preview(here.env, 'cursor', 'add');
    if (!first.ok) throw new Error(first.message);
    expect(here.desk.apply(here.env, 'made up')).toEqual(gone);
    expect(here.desk.apply(here.env, first.token)).toMatchObject({ ok: true });
    expect(here.desk.apply(here.env, first.token)).toEqual(gone);
    const second = here.desk.preview(here.env, 'cursor', 'remove');
    if (!second.ok) throw new Error(second.message);
    here.pass(15 * 60_000 + 1);
    expect(here.desk.apply(here.env, second.token)).toEqual(gone);
    expect(here.row('cursor').state).toBe('set-up');
  });

  test('very many previews don\'t pile up, and the last one counts', () => {
    using here = mac();
    here.put(cursor, '{}');
    const tokens = Array.from({ length: 100 }, () => here.desk.preview(here.env, 'cursor', 'add')).map((preview) => (preview.ok ? preview.token : ''));
    expect(here.desk.apply(here.env, tokens[0]!)).toMatchObject({ ok: false });
    expect(here.desk.apply(here.env, tokens[99]!)).toMatchObject({ ok: true });
  });

  test('what has to be done first is said with it', () => {
    using here = mac();
    here.put('Library/Application Support/Claude/claude_desktop_config.json', '{}');
    const sentence = 'Quit Claude Desktop first: it can rewrite this file while it runs.';
    expect(here.row('claude-desktop').sentence).toBe(sentence);
    expect(here.make('claude-desktop', 'add')).toMatchObject({ ok: true, sentence: 'Added to Claude Desktop. Quit Claude Desktop fully and open it again to pick this up.' });
    expect(here.desk.preview(here.env, 'claude-desktop', 'remove')).toMatchObject({ sentence });
    here.put('.gemini/settings.json', '{}');
    expect(here.desk.preview(here.env, 'gemini', 'add')).toMatchObject({ sentence: 'Gemini CLI works with API keys and business accounts only.' });
  });

  test.each([
    ['an unknown program', 'emacs', 'add', undefined, 'Belfry knows no program "emacs".'],
    ['nothing to remove', 'cursor', 'remove', undefined, "Belfry is not in Cursor's settings."],
    ['a program that is not here', 'windsurf', 'add', undefined, 'Windsurf was not found on this Mac. Copy the settings instead.'],
    ['YAML', 'goose', 'add', undefined, "Belfry doesn't edit this kind of file. Copy the settings into ~/.config/goose/config.yaml."],
    ['a path that is not confirmed', 'zed', 'add', undefined, "Belfry doesn't edit this kind of file. Copy the settings into ~/.config/zed/settings.json."],
    ['a project\'s file', 'claude-code-project', 'add', undefined, "Belfry doesn't edit this kind of file. Copy the settings into .mcp.json."],
    ['a bad name', 'cursor', 'add', 'a b', 'A name has 1 to 32 letters, digits, "_" or "-".'],
  ] as const)('refused: %s', (_label, id, change, name, message) => {
    using here = mac();
    here.put(cursor, '{}');
    expect(here.desk.preview(here.env, id, change, name)).toMatchObject({ ok: false, message });
  });

  test('no path that goes with the temporary copy is written', () => {
    using here = mac({ shim: '/private/var/folders/x/AppTranslocation/1/d/Belfry.app/Contents/MacOS/belfry-mcp' });
    here.put(cursor, '{}');
    expect(here.desk.preview(here.env, 'cursor', 'add')).toMatchObject({ ok: false, message: 'Belfry is running from a temporary copy. Move it to Applications first.' });
  });
});

describe('whose entry it is', () => {
  const entryOf = (command: unknown): string => JSON.stringify({ mcpServers: { belfry: { command, args: ['--client=cursor'] } } });
  test.each([
    [shim, 'set-up'],
    ['/Applications/Belfry.app/Contents/MacOS/belfry-mcp', 'older-copy'],
    ['/Users/ada/Old things/Belfry 2.app/Contents/Helpers/belfry-mcp', 'older-copy'],
    ['belfry-mcp', 'name-taken'],
    ['/usr/local/bin/belfry-mcp', 'name-taken'],
    ['/Applications/Belfry.app/Contents/MacOS/belfry-mcp-evil', 'name-taken'],
    ['/Applications/Belfry.application/belfry-mcp', 'name-taken'],
    ['/Applications/Belfry.app/Contents/MacOS/not-belfry-mcp', 'name-taken'],
    ['npx', 'name-taken'],
    [7, 'name-taken'],
    [null, 'name-taken'],
    [[shim, '--client=cursor'], 'set-up'],
    [{ path: shim }, 'set-up'],
  ])('%j is %s', (command, state) => {
    using here = mac();
    here.put(cursor, entryOf(command));
    expect(here.row('cursor').state).toBe(state);
  });

  test('a build outside an app knows its own path, and only that', () => {
    using here = mac({ shim: '/src/belfry/build/belfry-mcp' });
    here.put(cursor, entryOf('/src/belfry/build/belfry-mcp'));
    expect(here.row('cursor').state).toBe('set-up');
    here.put(cursor, entryOf('/other/build/belfry-mcp'));
    expect(here.row('cursor').state).toBe('name-taken');
  });

  test('a foreign entry under our name stays, and another name is possible', () => {
    using here = mac();
    const text = '{\n  "mcpServers": {\n    "belfry": { "command": "/opt/x/npx\\u202e; rm", "args": ["theirs"] }\n  }\n}\n';
    const file = here.put(cursor, text);
    const sentence = 'Cursor already has another server named "belfry" (npx rm). It stays as it is; use another name.';
    expect(here.row('cursor')).toMatchObject({ state: 'name-taken', sentence });
    expect(here.desk.preview(here.env, 'cursor', 'add')).toMatchObject({ ok: false, message: sentence });
    expect(here.desk.preview(here.env, 'cursor', 'remove')).toMatchObject({ ok: false });
    expect(here.make('cursor', 'add', 'belfry-2')).toMatchObject({ ok: true });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject({ mcpServers: { belfry: { args: ['theirs'] }, 'belfry-2': { command: shim } } });
    expect(here.row('cursor')).toMatchObject({ state: 'set-up', place: 'mcpServers > belfry-2' });
    expect(here.make('cursor', 'remove')).toMatchObject({ ok: true });
    expect(readFileSync(file, 'utf8')).toBe(text);
  });

  test('the name that was found is the one to listen by', () => {
    using here = mac();
    here.put('.claude.json', JSON.stringify({ mcpServers: { bells: { type: 'stdio', command: shim, args: ['--client=claude-code', '--channel'] } } }));
    expect(here.row('claude-code')).toMatchObject({ state: 'set-up', listenCommand: 'claude --dangerously-load-development-channels server:bells' });
  });

  test('an older copy is repaired in place, keeps what the owner added, and still gives the first file back', () => {
    using here = mac();
    const text = '{\n  "a": 1\n}\n';
    const file = here.put(cursor, text);
    const old = { ...here.env, shim: '/Applications/Old.app/Contents/MacOS/belfry-mcp' };
    const preview = here.desk.preview(old, 'cursor', 'add');
    if (!preview.ok) throw new Error(preview.message);
    here.desk.apply(old, preview.token);
    expect(here.row('cursor')).toMatchObject({ state: 'older-copy', sentence: 'The entry starts another copy of Belfry. Repair it to start this one.' });
    expect(here.make('cursor', 'add')).toMatchObject({ ok: true });
    expect(here.row('cursor').state).toBe('set-up');
    // The backup from before our first entry is the better one.
    expect(readFileSync(`${file}.belfry-backup`, 'utf8')).toBe(text);
    expect(here.make('cursor', 'remove')).toMatchObject({ ok: true });
    expect(readFileSync(file, 'utf8')).toBe(text);

    here.put(cursor, '{"mcpServers":{"belfry":{"command":"/Applications/Old.app/Contents/MacOS/belfry-mcp","env":{"K":"v"},"args":["--client=cursor"]}}}');
    expect(here.make('cursor', 'add')).toMatchObject({ ok: true });
    expect(readFileSync(file, 'utf8')).toBe(`{"mcpServers":{"belfry":{"command":"${shim}","env":{"K":"v"},"args":["--client=cursor"]}}}`);
  });

  test('an older copy in TOML', () => {
    using here = mac();
    const file = here.put('.codex/config.toml', '[mcp_servers.belfry]\ncommand = "/Applications/Old.app/Contents/MacOS/belfry-mcp"\nargs = ["--client=codex"]\nenabled = true\n');
    expect(here.row('codex').state).toBe('older-copy');
    expect(here.make('codex', 'add')).toMatchObject({ ok: true });
    expect(readFileSync(file, 'utf8')).toBe(`[mcp_servers.belfry]\ncommand = "${shim}"\nargs = ["--client=codex"]\nenabled = true\n`);
  });

  test('an entry that is set up is not written again; one that was turned off or changed is told', () => {
    using here = mac();
    here.put(cursor, entryOf(shim));
    expect(here.desk.preview(here.env, 'cursor', 'add')).toMatchObject({ ok: false, message: 'Cursor is set up already.' });
    here.put(cursor, JSON.stringify({ mcpServers: { belfry: { command: shim, args: ['--client=cursor'], disabled: true } } }));
    expect(here.row('cursor')).toMatchObject({ state: 'set-up', sentence: "The entry is turned off in Cursor's settings." });
    here.put(cursor, JSON.stringify({ mcpServers: { belfry: { command: shim, args: ['--client=else'] } } }));
    expect(here.row('cursor')).toMatchObject({ state: 'set-up', sentence: 'The entry was changed by hand.' });
  });

  test('every entry of ours in a file goes', () => {
    using here = mac();
    const file = here.put(cursor, JSON.stringify({ mcpServers: { a: { command: shim }, b: { command: 'npx' }, c: { command: '/x/Old.app/belfry-mcp' } } }));
    expect(here.make('cursor', 'remove')).toMatchObject({ ok: true });
    expect(readFileSync(file, 'utf8')).toBe('{"mcpServers":{"b":{"command":"npx"}}}');
  });
});

describe('programs are looked for in known folders', () => {
  test.each([
    ['its folder', 'cursor', '.cursor/x'], ['its app', 'cursor', 'Applications/Cursor.app/x'], ['its command', 'cursor', 'bin/cursor'], ['its file', 'gemini', '.gemini/settings.json'],
    ['a settings folder', 'goose', '.config/goose/x'],
  ])('%s', (_label, id, path) => {
    using here = mac();
    expect(here.row(id).state).toBe('not-installed');
    here.put(path, '');
    expect(here.row(id).state).not.toBe('not-installed');
  });
  test('without other word, the usual folders are looked in', () => {
    using here = mac();
    const { applications: _applications, tools: _tools, ...usual } = here.env;
    here.put('Applications/LM Studio.app/x', '');
    here.put('.local/bin/devin', '');
    const states = new Map(listWirings(usual).map(({ id, state }) => [id, state]));
    expect([states.get('lm-studio'), states.get('devin')]).toEqual(['not-set-up', 'not-set-up']);
  });
  test('the folder is made for a program that is here', () => {
    using here = mac();
    here.put('Applications/Visual Studio Code.app/x', '');
    expect(here.make('vscode', 'add')).toMatchObject({ ok: true });
    expect(JSON.parse(readFileSync(here.folder.at('Library/Application Support/Code/User/mcp.json'), 'utf8'))).toEqual({
      servers: { belfry: { type: 'stdio', command: shim, args: ['--client=vscode'] } },
    });
  });
  test('OpenCode\'s file with comments is used where it is the one there', () => {
    using here = mac();
    const file = here.put('.config/opencode/opencode.jsonc', '{ // c\n}');
    expect(here.row('opencode').file).toBe('~/.config/opencode/opencode.jsonc');
    here.make('opencode', 'add');
    expect(readFileSync(file, 'utf8')).toContain('"--client=opencode"');
    here.put('.config/opencode/opencode.json', '{}');
    expect(here.row('opencode')).toMatchObject({ state: 'set-up', file: '~/.config/opencode/opencode.jsonc' });
  });
  test('a YAML file that names the helper is told, not edited', () => {
    using here = mac();
    here.put('.config/goose/config.yaml', 'extensions: {}\n');
    expect(here.row('goose')).toMatchObject({ state: 'cant-write', sentence: "Belfry doesn't edit this kind of file. Copy the settings into ~/.config/goose/config.yaml." });
    here.put('.config/goose/config.yaml', `cmd: "${shim}"\n`);
    expect(here.row('goose')).toMatchObject({ state: 'cant-write', sentence: 'The file names this copy of Belfry.' });
    here.put('.config/goose/config.yaml', 'cmd: /Applications/Old.app/Contents/MacOS/belfry-mcp\n');
    expect(here.row('goose')).toMatchObject({ state: 'cant-write', sentence: 'The file names another copy of Belfry. Change it by hand.' });
  });
});

describe('opening a program', () => {
  test('an app of its own is opened by its link, wherever it lies', () => {
    using here = mac();
    expect(here.row('cursor')).toMatchObject({ canOpen: true, startCommand: null });
    expect(wiringAppLink(here.env, 'cursor')).toBe('cursor://');
  });

  test('what is app and terminal program opens by its link only where the app is', () => {
    using here = mac();
    expect(here.row('codex')).toMatchObject({ canOpen: false, startCommand: 'codex' });
    expect(wiringAppLink(here.env, 'codex')).toBeNull();
    mkdirSync(here.folder.at('Applications', 'Codex.app'), { recursive: true });
    expect(here.row('codex')).toMatchObject({ canOpen: true });
    expect(wiringAppLink(here.env, 'codex')).toBe('codex://');
  });

  test('a terminal program and an unknown one have no link', () => {
    using here = mac();
    for (const id of ['claude-code', 'gemini', 'devin', 'cursor://', '__proto__']) expect(wiringAppLink(here.env, id)).toBeNull();
  });
});

describe('links', () => {
  test('the target is replaced, the link stays, the backup is beside the link', () => {
    using here = mac();
    const target = here.put('dotfiles/cursor.json', '{}');
    mkdirSync(here.folder.at('.cursor'));
    symlinkSync('../dotfiles/cursor.json', here.folder.at(cursor));
    expect(here.make('cursor', 'add')).toMatchObject({ ok: true });
    expect(lstatSync(here.folder.at(cursor)).isSymbolicLink()).toBe(true);
    expect(readlinkSync(here.folder.at(cursor))).toBe('../dotfiles/cursor.json');
    expect(readFileSync(target, 'utf8')).toContain('belfry-mcp');
    expect(lstatSync(target).isFile()).toBe(true);
    expect(readdirSync(here.folder.at('.cursor')).sort()).toEqual(['mcp.json', 'mcp.json.belfry-backup']);
    expect(here.make('cursor', 'remove')).toMatchObject({ ok: true });
    expect(readFileSync(target, 'utf8')).toBe('{}');
  });
  test('a link in the place of the backup is replaced, never written through', () => {
    using here = mac();
    const file = here.put(cursor, '{}');
    const victim = here.put('victim', 'theirs');
    symlinkSync(victim, `${file}.belfry-backup`);
    expect(here.make('cursor', 'add')).toMatchObject({ ok: true });
    expect(readFileSync(victim, 'utf8')).toBe('theirs');
    expect(lstatSync(`${file}.belfry-backup`).isFile()).toBe(true);
  });
  test('a link that is pointed elsewhere after the preview', () => {
    using here = mac();
    here.put('a.json', '{}');
    const other = here.put('b.json', '{}');
    mkdirSync(here.folder.at('.cursor'));
    symlinkSync(here.folder.at('a.json'), here.folder.at(cursor));
    const preview = here.desk.preview(here.env, 'cursor', 'add');
    if (!preview.ok) throw new Error(preview.message);
    rmSync(here.folder.at(cursor));
    symlinkSync(other, here.folder.at(cursor));
    expect(here.desk.apply(here.env, preview.token)).toMatchObject({ ok: false, message: expect.stringContaining('changed by another program') });
    expect(readFileSync(other, 'utf8')).toBe('{}');
  });
});

describe('uninstall', () => {
  test('takes our entries out everywhere and says what it did', () => {
    using here = mac();
    const files = [here.put('.claude.json', '{\n  "n": 1\n}\n'), here.put('.codex/config.toml', 'model = "x"\n'), here.put(cursor, '{}')];
    const before = files.map((file) => readFileSync(file, 'utf8'));
    for (const id of ['claude-code', 'codex', 'cursor']) expect(here.make(id, 'add')).toMatchObject({ ok: true });
    here.put('.gemini/settings.json', '{"mcpServers":{"belfry":{"command":"npx"}}}');
    here.put('.codeium/windsurf/mcp_config.json', '{ broken');
    here.put('.continue/config.yaml', `command: "${shim}"\n`);
    const entry = { mcp: { belfry: { type: 'local', command: [shim] } } };
    here.put('.config/opencode/opencode.json', JSON.stringify(entry));
    here.put('.config/opencode/opencode.jsonc', JSON.stringify(entry));
    const byHand = [
      "Couldn't read Windsurf's settings. Line 1 of the file is not valid JSON. If Belfry is in ~/.codeium/windsurf/mcp_config.json, remove it by hand.",
      'Continue: remove Belfry from ~/.continue/config.yaml by hand.',
    ];
    expect(removeAllPreview(here.env)).toEqual([
      'Claude Code: "belfry" in ~/.claude.json', 'Codex: "belfry" in ~/.codex/config.toml', 'Cursor: "belfry" in ~/.cursor/mcp.json', ...byHand,
      'OpenCode: "belfry" in ~/.config/opencode/opencode.json',
    ]);
    expect(removeAll(here.env)).toEqual([
      'Removed from Claude Code (~/.claude.json).', 'Removed from Codex (~/.codex/config.toml).', 'Removed from Cursor (~/.cursor/mcp.json).', ...byHand,
      'Removed from OpenCode (~/.config/opencode/opencode.json).', 'Removed from OpenCode (~/.config/opencode/opencode.jsonc).',
    ]);
    expect(files.map((file) => readFileSync(file, 'utf8'))).toEqual(before);
    expect(readFileSync(here.folder.at('.gemini/settings.json'), 'utf8')).toBe('{"mcpServers":{"belfry":{"command":"npx"}}}');
    expect(removeAll(here.env)).toEqual(byHand);
  });
  test('says so where it could not', () => {
    using here = mac();
    chmodSync(here.folder.path, 0o755);
    const file = here.put(cursor, '{}');
    here.make('cursor', 'add');
    chmodSync(dirname(file), 0o555);
    const lines = asNobody(() => removeAll(here.env));
    chmodSync(dirname(file), 0o755);
    expect(lines).toEqual(["Couldn't write to Cursor's settings. The file or its folder can't be written to. Remove \"belfry\" from ~/.cursor/mcp.json by hand."]);
  });
});

test('files to show and links to open are known ones', () => {
  using here = mac();
  expect(wiringFile(here.env, 'cursor')).toBe(here.folder.at(cursor));
  expect(wiringFile(here.env, 'claude-code-project')).toBeNull();
  expect(wiringFile(here.env, '../../etc/passwd')).toBeNull();
  expect(wiringLink(here.env, 'cursor')).toMatch(/^cursor:\/\//u);
  expect(wiringLink(here.env, 'codex')).toBeNull();
  expect(wiringLink(here.env, 'file:///etc')).toBeNull();
});
