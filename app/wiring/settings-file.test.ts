import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync, truncateSync, utimesSync } from 'node:fs';
import { createServer } from 'node:net';
import { dirname } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import { asNobody } from '../testing/as-nobody.ts';
import { cursor, mac, type Mac } from '../testing/wiring-home.ts';

describe('a second writer', () => {
  const changed = "Couldn't write to Cursor's settings. The file was changed by another program since the change was shown. Look at the change again.";
  const shown = (here: Mac): string => {
    const preview = here.desk.preview(here.env, 'cursor', 'add');
    if (!preview.ok) throw new Error(preview.message);
    return preview.token;
  };
  /** Another process does it, as another program would. */
  const elsewhere = (code: string, ...args: string[]): void => {
    execFileSync(process.execPath, ['-e', `const fs = require('node:fs'); const [file] = process.argv.slice(1); ${code}`, ...args]);
  };
  test.each([
    ['in place', "fs.writeFileSync(file, '{\"theirs\":1}')"],
    ['in place, as long as before', "fs.writeFileSync(file, '{\"a\":2}')"],
    ['as long as before and with the old times', "const { atime, mtime } = fs.statSync(file); fs.writeFileSync(file, '{\"a\":2}'); fs.utimesSync(file, atime, mtime)"],
    ['by a rename', "fs.writeFileSync(file + '.new', '{\"theirs\":1}'); fs.renameSync(file + '.new', file)"],
  ])('%s: what it wrote stays', (_label, code) => {
    using here = mac();
    const file = here.put(cursor, '{"a":1}');
    // Whole seconds, so that another process can set the very same time again.
    utimesSync(file, 1_700_000_000, 1_700_000_000);
    const token = shown(here);
    elsewhere(code, file);
    const theirs = readFileSync(file, 'utf8');
    expect(here.desk.apply(here.env, token)).toEqual({ ok: false, code: 'not-written', message: changed });
    expect(readFileSync(file, 'utf8')).toBe(theirs);
    expect(readdirSync(dirname(file))).toEqual(['mcp.json']);
    // Looked at again, it works.
    expect(here.make('cursor', 'add')).toMatchObject({ ok: true });
    expect(JSON.parse(readFileSync(file, 'utf8'))).toMatchObject(JSON.parse(theirs) as object);
  });
  test('only the time differs', () => {
    using here = mac();
    const file = here.put(cursor, '{"a":1}');
    const token = shown(here);
    utimesSync(file, 1_700_000_000, 1_700_000_000);
    expect(here.desk.apply(here.env, token)).toMatchObject({ ok: false, message: changed });
  });
  test('the file has gone', () => {
    using here = mac();
    const file = here.put(cursor, '{"a":1}');
    const token = shown(here);
    rmSync(file);
    expect(here.desk.apply(here.env, token)).toMatchObject({
      ok: false, message: "Couldn't write to Cursor's settings. The file has gone since the change was shown. Look at the change again.",
    });
    expect(existsSync(file)).toBe(false);
  });
  test('the file was not there and now is', () => {
    using here = mac();
    mkdirSync(here.folder.at('.cursor'));
    const token = shown(here);
    const file = here.put(cursor, '{"theirs":1}');
    expect(here.desk.apply(here.env, token)).toMatchObject({ ok: false, message: changed });
    expect(readFileSync(file, 'utf8')).toBe('{"theirs":1}');
  });
  test('before a file that held only our entry is removed', () => {
    using here = mac();
    mkdirSync(here.folder.at('.cursor'));
    here.make('cursor', 'add');
    const preview = here.desk.preview(here.env, 'cursor', 'remove');
    if (!preview.ok) throw new Error(preview.message);
    const file = here.put(cursor, '{"theirs":1}');
    expect(here.desk.apply(here.env, preview.token)).toMatchObject({ ok: false, message: changed });
    expect(readFileSync(file, 'utf8')).toBe('{"theirs":1}');
  });
});

test('a reader finds a whole file at every moment, also where the writer is killed', async () => {
  using here = mac();
  const text = '{\n  "mcpServers": {\n    "x": {}\n  }\n}\n';
  const file = here.put(cursor, text);
  here.make('cursor', 'add');
  const whole = new Set([text, readFileSync(file, 'utf8')]);
  const code = `
    const { WiringDesk } = await import(${JSON.stringify(new URL('wiring.ts', import.meta.url).href)});
    const env = { ...${JSON.stringify(here.env)}, now: () => 0 };
    const desk = new WiringDesk();
    for (let round = 0; ; round += 1) {
      const preview = desk.preview(env, 'cursor', round % 2 === 0 ? 'remove' : 'add');
      if (!preview.ok) throw new Error(preview.message);
      const outcome = desk.apply(env, preview.token);
      if (!outcome.ok) throw new Error(outcome.message);
      if (round === 1) process.stdout.write('writing');
    }`;
  const writer = spawn(process.execPath, ['--input-type=module', '-e', code], { stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = once(writer, 'exit');
  await once(writer.stdout, 'data');
  const seen = new Set<string>();
  // Until both states were read, and many times over: no bound on how fast the writer is.
  for (let reads = 0; reads < 2000 || seen.size < 2; reads += 1) {
    seen.add(readFileSync(file, 'utf8'));
    if (reads % 50 === 0) await setImmediate();
    if (writer.exitCode !== null) throw new Error('the writer gave up');
  }
  writer.kill('SIGKILL');
  await ended;
  seen.add(readFileSync(file, 'utf8'));
  expect(seen).toEqual(whole);
  // What a killed writer may leave is a temporary file that only its owner can read or that is like the original.
  if (here.row('cursor').state === 'set-up') expect(here.make('cursor', 'remove')).toMatchObject({ ok: true });
  expect(readFileSync(file, 'utf8')).toBe(text);
});

describe('files that are left alone', () => {
  const refused = (here: Mac, what: string): void => {
    const row = here.row('cursor');
    expect(row.state).toBe('unreadable');
    expect(row.sentence).toBe(`Couldn't read Cursor's settings. ${what} Copy the settings instead.`);
    expect(here.desk.preview(here.env, 'cursor', 'add')).toEqual({ ok: false, message: `Couldn't write to Cursor's settings. ${what} Copy the settings instead.`, snippet: row.snippet });
  };
  test.each([
    ['broken JSON', '{\n"a": ', 'Line 2 of the file is not valid JSON.'],
    ['no UTF-8', Buffer.from([0x7b, 0xff, 0x7d]), 'The file is not UTF-8 text.'],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 'The file is not UTF-8 text.'],
    ['zeros', Buffer.alloc(16), 'Line 1 of the file is not valid JSON.'],
    ['deep nesting', `{"a":${'['.repeat(50_000)}${']'.repeat(50_000)}}`, 'The file is nested more than 100 levels deep.'],
  ])('%s', (_label, content, what) => {
    using here = mac();
    const file = here.put(cursor, content);
    refused(here, what);
    expect(readFileSync(file)).toEqual(Buffer.from(content));
  });
  test('more than 5 MB', () => {
    using here = mac();
    truncateSync(here.put(cursor, '{}'), 5 * 1024 * 1024 + 1);
    refused(here, 'The file is larger than 5 MB.');
  });
  test('a folder', () => {
    using here = mac();
    mkdirSync(here.folder.at(cursor), { recursive: true });
    refused(here, 'It is not a regular file.');
  });
  test('a pipe', () => {
    using here = mac();
    mkdirSync(here.folder.at('.cursor'));
    expect(spawnSync('mkfifo', [here.folder.at(cursor)]).status).toBe(0);
    refused(here, 'It is not a regular file.');
  });
  test('a socket', async () => {
    using here = mac();
    mkdirSync(here.folder.at('.cursor'));
    const server = createServer();
    await new Promise<void>((done) => {
      server.listen(here.folder.at(cursor), done);
    });
    refused(here, 'It is not a regular file.');
    await new Promise((done) => {
      server.close(done);
    });
  });
  test('links that lead nowhere or round', () => {
    using here = mac();
    mkdirSync(here.folder.at('.cursor'));
    symlinkSync('nowhere', here.folder.at(cursor));
    refused(here, 'It is a link that leads nowhere.');
    rmSync(here.folder.at(cursor));
    symlinkSync('mcp.json', here.folder.at(cursor));
    refused(here, 'It is a link that leads in a circle.');
  });
  test('a file where its folder should be', () => {
    using here = mac();
    here.put('.cursor', '');
    refused(here, 'Its folder is a file.');
  });
  test('a file that may not be read', () => {
    using here = mac();
    chmodSync(here.folder.path, 0o755);
    chmodSync(here.put(cursor, '{}'), 0o000);
    asNobody(() => {
      refused(here, "macOS or the file's permissions don't allow reading it.");
    });
  });
  test('a folder that may not be written to', () => {
    using here = mac();
    chmodSync(here.folder.path, 0o755);
    const file = here.put(cursor, '{}');
    chmodSync(file, 0o666);
    chmodSync(dirname(file), 0o555);
    const outcome = asNobody(() => here.make('cursor', 'add'));
    chmodSync(dirname(file), 0o755);
    expect(outcome).toEqual({ ok: false, code: 'not-written', message: "Couldn't write to Cursor's settings. The file or its folder can't be written to. Copy the settings instead." });
    expect(readFileSync(file, 'utf8')).toBe('{}');
    expect(readdirSync(dirname(file))).toEqual(['mcp.json']);
  });
  test.each([
    ['.cursor/mcp.json', 'cursor', '{"mcpServers":[]}', 'In the file, mcpServers is not an object.'],
    ['.cursor/mcp.json', 'cursor', '{"mcpServers":{},\n"mcpServers":{}}', 'Line 2 of the file has the key "mcpServers" a second time.'],
    ['.codex/config.toml', 'codex', '[[mcp_servers]]', 'In the file, mcp_servers is not a table.'],
  ])('%s, understood but not safe to edit: %#', (path, id, text, what) => {
    using here = mac();
    here.put(path, text);
    const { title } = here.row(id);
    expect(here.row(id)).toMatchObject({ state: 'cant-write', sentence: `${title}'s settings are left alone. ${what} Copy the settings instead.` });
    expect(here.desk.preview(here.env, id, 'add')).toMatchObject({ ok: false, message: `Couldn't write to ${title}'s settings. ${what} Copy the settings instead.` });
  });
  test('an inline table of servers can be read, not added to', () => {
    using here = mac();
    here.put('.codex/config.toml', 'mcp_servers = {}\n');
    expect(here.row('codex').state).toBe('not-set-up');
    expect(here.desk.preview(here.env, 'codex', 'add')).toMatchObject({
      ok: false, message: "Couldn't write to Codex's settings. In the file, mcp_servers is an inline table. Copy the settings instead.", snippet: expect.stringContaining('[mcp_servers.belfry]'),
    });
  });
});

test('the owner stays', () => {
  using here = mac();
  const file = here.put(cursor, '{}');
  // Only the superuser can make a file that belongs to somebody else.
  const owner = process.getuid!() === 0 ? [1234, 2345] as const : [process.getuid!(), process.getgid!()] as const;
  chownSync(file, ...owner);
  expect(here.make('cursor', 'add')).toMatchObject({ ok: true });
  for (const path of [file, `${file}.belfry-backup`]) expect([statSync(path).uid, statSync(path).gid]).toEqual(owner);
});
