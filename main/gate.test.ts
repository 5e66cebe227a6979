import { beforeEach, expect, test } from 'vitest';
import type { IpcMain } from 'electron';
import { Gate } from './gate.ts';
import { CHANNELS } from './origin.ts';
import { ipcMain, reset } from './testing/electron-double.ts';

beforeEach(reset);

const OURS = 5;
const frame = (url = 'app://belfry/?view=window', parent: unknown = null) => ({ url, parent });
function heardFrom(event: { id?: number; senderFrame: unknown; mainFrame: unknown }): { heard: unknown[]; noted: string[] } {
  const heard: unknown[] = [];
  const noted: string[] = [];
  new Gate((id) => id === OURS, (line) => noted.push(line)).listen(ipcMain as unknown as IpcMain, {
    shell: (contents, value) => heard.push([contents.id, value]), wantEngine: (contents) => heard.push(contents.id),
  });
  const message = { sender: { id: event.id ?? OURS, mainFrame: event.mainFrame }, senderFrame: event.senderFrame };
  ipcMain.emit(CHANNELS.toShell, message, { call: 'shell.state', id: 1, params: {} });
  ipcMain.emit(CHANNELS.wantEngine, message);
  return { heard, noted };
}

test('the main frame of a window of ours is heard', () => {
  const own = frame();
  expect(heardFrom({ senderFrame: own, mainFrame: own })).toEqual({ heard: [[OURS, { call: 'shell.state', id: 1, params: {} }], OURS], noted: [] });
});

const main = frame();
test.each([
  ['a frame inside the page', frame('app://belfry/', main), main],
  ['another frame of the same address that is not the main one', frame(), main],
  ['a page of another origin', frame('https://example.org/'), null],
  ['a page of our scheme and another host', frame('app://other/'), null],
  ['a host that only begins like ours', frame('app://belfry.example/'), null],
  ['a file', frame('file:///tmp/index.html'), null],
  ['no address', frame(''), null],
  ['a frame that is gone', null, main],
])('dropped and noted: %s', (_name, senderFrame, mainFrame) => {
  const { heard, noted } = heardFrom({ senderFrame, mainFrame: mainFrame ?? senderFrame });
  expect(heard).toEqual([]);
  expect(noted.length).toBe(2);
});

test('dropped: web contents that belong to no window of ours', () => {
  const own = frame();
  expect(heardFrom({ id: OURS + 1, senderFrame: own, mainFrame: own }).heard).toEqual([]);
});
