import { execFileSync } from 'node:child_process';
import { chmodSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, test } from 'vitest';
import type { ShellHandlers } from '../app/contract/shell.ts';
import { tempFolder, type TempFolder } from '../app/testing/temp.ts';
import { shellHandlers, type ShellDesk } from './shell-handlers.ts';
import { answers, callsOf, reset } from './testing/electron-double.ts';

let folder: TempFolder;
let handlers: ShellHandlers;
beforeEach(() => {
  reset();
  folder = tempFolder();
  // Files need nothing of the desk.
  handlers = shellHandlers({ wiring: { handlers: () => ({}) } } as unknown as ShellDesk);
  return () => folder.remove();
});
const pick = (path: string) => {
  answers.pick = path;
  return handlers.shell.pickSettings({});
};
const TOO_LARGE = { ok: false, code: 'invalid', message: 'This file is larger than 1 MB. A settings file is smaller.' };
const UNREADABLE = { ok: false, code: 'refused', message: "This file can't be read." };

describe('picking a settings file', () => {
  test('gives its text, and nothing where none was picked', async () => {
    writeFileSync(folder.at('belfry.json'), '{"version": 2, "name": "\u00e4"}');
    expect(await pick(folder.at('belfry.json'))).toEqual({ ok: true, json: '{"version": 2, "name": "\u00e4"}' });
    expect(await pick('')).toEqual({ ok: true, json: null });
  });

  test('one of up to 1 MB is taken, and a larger one is refused with a sentence', async () => {
    writeFileSync(folder.at('most.json'), ' '.repeat(1_000_000));
    expect(await pick(folder.at('most.json'))).toMatchObject({ ok: true });
    writeFileSync(folder.at('over.json'), ' '.repeat(1_000_001));
    expect(await pick(folder.at('over.json'))).toEqual(TOO_LARGE);
  });

  test('a file that is larger than memory is not read to be refused', async () => {
    writeFileSync(folder.at('hole.json'), '');
    truncateSync(folder.at('hole.json'), 2 ** 42);
    expect(await pick(folder.at('hole.json'))).toEqual(TOO_LARGE);
  });

  test.each([
    ['one that is not there', () => folder.at('gone.json')],
    ['a folder', () => folder.path],
    ['a pipe, which would be waited for', () => {
      execFileSync('mkfifo', [folder.at('pipe.json')]);
      return folder.at('pipe.json');
    }],
  ])('%s is said', async (_what, path) => {
    expect(await pick(path())).toEqual(UNREADABLE);
  });

  test('one that may not be read is said', async () => {
    writeFileSync(folder.at('closed.json'), '{}');
    chmodSync(folder.at('closed.json'), 0);
    // Root may read what has no mode; memory that is not mapped nobody can.
    expect(await pick(process.getuid?.() === 0 ? '/proc/self/mem' : folder.at('closed.json'))).toEqual(UNREADABLE);
  });
});

test('a text is saved where the owner says, for them alone; the page gives a name and never a path', async () => {
  answers.saveTo = folder.at('out.json');
  expect(await handlers.shell.save({ name: '../../etc/out.json', text: 'text' })).toEqual({ ok: true, changed: true, sentence: 'Saved as out.json.' });
  expect(callsOf('dialog.showSaveDialog')).toEqual([['out.json']]);
  expect(readFileSync(folder.at('out.json'), 'utf8')).toBe('text');
  answers.saveTo = folder.at('nowhere', 'out.json');
  expect(await handlers.shell.save({ name: 'out.json', text: 'text' })).toMatchObject({ ok: false, code: 'not-written' });
  answers.saveTo = '';
  expect(await handlers.shell.save({ name: 'out.json', text: 'text' })).toMatchObject({ ok: false, code: 'nothing' });
});
