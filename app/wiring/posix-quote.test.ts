import { spawnSync } from 'node:child_process';
import { expect, test } from 'vitest';
import { commandLine } from './posix-quote.ts';

/** What a shell makes of a command line: its words, with a stand-in for the command. */
function words(line: string): string[] {
  const { stdout, status, stderr } = spawnSync('/bin/sh', ['-c', `printf '%s\\0' ${line}`], { encoding: 'utf8' });
  expect(stderr).toBe('');
  expect(status).toBe(0);
  return stdout.split('\0').slice(0, -1);
}

test.each([
  [['claude', 'mcp', 'add', '--', "/Applications/It's here.app/Contents/MacOS/belfry-mcp"]],
  [['', ' ', "'", "''", '"', '\\', '\\\'', '$HOME', '`id`', '$(id)', ';', '&&', '|', '>', '*', '?', '[a]', '{a,b}', '~', '!!', '#', '=ls', 'a\nb', '\t', '-n', '--', 'é 日 👩‍👩‍👧']],
])('%j', (command) => {
  expect(words(commandLine(...command))).toEqual(command);
});

test('harmless words are not quoted', () => {
  expect(commandLine('codex', 'mcp', 'add', 'belfry', '--', '/opt/belfry-mcp', '--client=codex')).toBe('codex mcp add belfry -- /opt/belfry-mcp --client=codex');
});
