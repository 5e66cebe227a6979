import { afterEach, beforeEach, expect, test } from 'vitest';
import { complaint, OsascriptStandIn, stoppedAt, type ScriptEnd } from '../../testing/osascript-stand-in.ts';
import { tempFolder, type TempFolder } from '../../testing/temp.ts';
import { openAnswer, openDraft, textThroughMail } from './mail-script.ts';
import { sendToChat } from './messages-script.ts';
import { MAX_ARGUMENT_BYTES, Osascript } from './osascript.ts';
import { faultSentence } from './script-words.ts';

let folder: TempFolder;
let standIn: OsascriptStandIn;
let runner: Osascript;
beforeEach(() => {
  folder = tempFolder();
  standIn = new OsascriptStandIn(folder.path);
  runner = new Osascript(standIn.path);
});
afterEach(() => {
  runner.close();
  folder[Symbol.dispose]();
});
const LONG = 20_000;

/** Text that would be something else in a script, a shell or a list of options. */
const HOSTILE = [
  '"', '\\', '" & (do shell script "id") & "', 'end run\non run', '-e', '--', '$(id) `id` ; rm -rf ~', '\u{1F600} 漢字 é e\u0301', 'a\nb\r\nc\td', '«event aevtquit»', "'; DROP TABLE message; --", ' ',
];

test('the script is the same whatever the values: they stand in the arguments alone, byte for byte', async () => {
  for (const text of HOSTILE) expect(await sendToChat(runner, `any;-;${text}`, text, false)).toEqual({ ok: true, text: '' });
  const { runs } = standIn;
  expect(new Set(runs.map(({ script }) => script)).size).toBe(1);
  expect(runs.map(({ argv }) => argv)).toEqual(HOSTILE.map((text) => ['-', `any;-;${text}`, text, '0']));
  // AppleScript is read in the system's encoding: only ASCII is the same in all.
  expect(runs[0]!.script).toMatch(/^on run argv\n[\t\n -~]*end run\n$/);
});

test('it is given neither our folder nor our environment', async () => {
  process.env['BELFRY_PROBE'] = 'x';
  await sendToChat(runner, 'any;-;x', 'x', false);
  delete process.env['BELFRY_PROBE'];
  expect(standIn.runs[0]).toMatchObject({ cwd: '/', env: ['HOME', 'LANG'] });
});

test('each script gets its arguments in the order in which it reads them', async () => {
  const mail = { rowid: 42, accountId: 'A-1', path: 'Work/Plans', messageId: '<x@y.example>' };
  await openDraft(runner, { to: ['a@x.example', 'b@x.example'], cc: ['c@x.example'], subject: 'S', text: 'T' });
  await openAnswer(runner, mail, 'T', true);
  await textThroughMail(runner, { ...mail, messageId: null });
  expect(standIn.runs.map(({ argv }) => argv)).toEqual([
    ['-', 'S', 'T', '2', 'a@x.example', 'b@x.example', 'c@x.example'],
    ['-', 'A-1', 'Work/Plans', '42', 'x@y.example', 'T', '1'],
    ['-', 'A-1', 'Work/Plans', '42', ''],
  ]);
});

test('no script sends mail, deletes, moves, or sets a mark', async () => {
  const mail = { rowid: 1, accountId: 'A', path: 'INBOX', messageId: null };
  await openDraft(runner, { to: ['a@x.example'], cc: [], subject: 'S', text: 'T' });
  await openAnswer(runner, mail, 'T', false);
  await textThroughMail(runner, mail);
  for (const { script } of standIn.runs) {
    expect(script).toContain('tell application "Mail"');
    expect(script).not.toMatch(/\bsend\b|\bdelete\b|\bmove\b|read status|flag|do shell script|\bopen location\b|system events/i);
  }
  await sendToChat(runner, 'any;-;x', 'x', false);
  expect(standIn.runs.at(-1)!.script).not.toMatch(/\bdelete\b|do shell script|buddy|system events/i);
});

const MAIL = { rowid: 1, accountId: 'A', path: 'INBOX', messageId: null };
test.each<[string, () => Promise<unknown>, string]>([
  ['a message', () => sendToChat(runner, 'any;-;x', 'x', false), 'send theText to theTarget'],
  ['a draft', () => openDraft(runner, { to: ['a@x.example'], cc: [], subject: 'S', text: 'T' }), 'set theDraft to make new outgoing message with properties {subject:theSubject, content:theText, visible:true}'],
  ['an answer', () => openAnswer(runner, MAIL, 'T', true), 'set theDraft to reply theMail opening window true reply to all (item 6 of argv is "1")'],
])('the script of %s marks the point right before it writes, asks the app for something before, and tells every error with that point', async (_name, run, writes) => {
  await run();
  const lines = standIn.runs[0]!.script.split('\n').map((line) => line.trim()).filter(Boolean);
  expect(lines.slice(0, 3)).toEqual(['on run argv', 'set hasBegun to false', 'try']);
  expect(lines.slice(-6)).toEqual(['on error theReason number theNumber', 'if hasBegun then error (theNumber as text) number 9004', 'error (theNumber as text) number 9003', 'end try', expect.stringMatching(/^return "(?:sent|opened)"$/), 'end run']);
  const at = lines.indexOf('set hasBegun to true');
  expect(lines[at + 1]).toBe(writes);
  const before = lines.slice(3, at).join('\n');
  expect(before).toMatch(/\b(?:set theTarget to chat id theChat|count of outgoing messages|set theMail to first message)\b/);
  expect(before).not.toMatch(/\bsend\b|\bmake\b|\breply\b/);
  expect(lines.filter((line) => /hasBegun/.test(line))).toHaveLength(3);
});

test.each<[string, ScriptEnd, string]>([
  ['-1743', complaint(-1743), 'not-permitted'],
  ['-1744', complaint(-1744), 'not-permitted'],
  ['-600', complaint(-600), 'not-running'],
  ['-609', complaint(-609), 'not-running'],
  ['-1712', complaint(-1712), 'timed-out'],
  ['-1728', complaint(-1728), 'not-found'],
  ['9001', complaint(9001), 'other-members'],
  ['9002', complaint(9002), 'other-mail'],
  ['another number', complaint(-10000), 'failed'],
  ['no number', { code: 1, stderr: 'what (x)' }, 'interrupted'],
  ['a signal', { dies: true }, 'interrupted'],
  ['output without an end', { floods: true }, 'interrupted'],
])('it ends with %s', async (_name, end, fault) => {
  standIn.ends(end);
  expect(await runner.run('return 1', [], LONG)).toEqual({ ok: false, fault, nothingWritten: false });
});

/** Numbers that a script may end with -> what is made of it before it wrote, and since. */
test.each<[number, string, string]>([
  [-1743, 'not-permitted', 'not-permitted'],
  [-600, 'not-running', 'not-running'],
  [-609, 'not-running', 'not-running'],
  [-10810, 'not-running', 'not-running'],
  [-1712, 'timed-out', 'timed-out'],
  [-1728, 'not-found', 'failed'],
  [-1719, 'not-found', 'failed'],
  [9001, 'other-members', 'other-members'],
  [-10000, 'failed', 'failed'],
  [-128, 'failed', 'failed'],
  [9003, 'failed', 'failed'],
  [1, 'failed', 'failed'],
])('%i: the script alone says whether something may have been written', async (number, before, since) => {
  for (const [stage, fault] of [['before', before], ['since', since]] as const) {
    standIn.ends(stoppedAt(stage, number));
    expect(await runner.run('return 1', [], LONG)).toEqual({ ok: false, fault, nothingWritten: stage === 'before' });
  }
});

test.each<[string, ScriptEnd]>([
  ['its number without the number of the error', complaint(9003)],
  ['words of an app that look like it', { code: 1, stderr: '0:9: execution error: Messages got an error: -600 (9003) (-10000)\n' }],
  ['half of it', { code: 1, stderr: '0:9: execution error: -600 (90' }],
  ['more behind it', { code: 1, stderr: '0:9: execution error: -600 (9003)\nmore' }],
  ['nothing', { code: 1 }],
  ['nothing, by a signal', { dies: true }],
])('%s proves nothing', async (_name, end) => {
  standIn.ends(end);
  expect(await runner.run('return 1', [], LONG)).toMatchObject({ ok: false, nothingWritten: false });
});

test('past its time it is killed', async () => {
  standIn.ends({ after: 'never' });
  expect(await runner.run('return 1', [], 1000)).toEqual({ ok: false, fault: 'timed-out', nothingWritten: false });
});

test('arguments of more than 100 kB are refused and nothing is started', async () => {
  expect(await runner.run('x', ['a'.repeat(MAX_ARGUMENT_BYTES)], LONG)).toEqual({ ok: false, fault: 'too-long', nothingWritten: true });
  expect(await runner.run('x', ['漢'.repeat(Math.ceil(MAX_ARGUMENT_BYTES / 3))], LONG)).toEqual({ ok: false, fault: 'too-long', nothingWritten: true });
  expect(standIn.runs).toEqual([]);
  expect(await runner.run('x', ['a'.repeat(MAX_ARGUMENT_BYTES - 1)], LONG)).toMatchObject({ ok: true });
});

test('four at once, and a fifth is told to come later', async () => {
  standIn.ends({ after: 'never' });
  const four = Array.from({ length: 4 }, () => runner.run('x', [], LONG));
  expect(await runner.run('x', [], LONG)).toEqual({ ok: false, fault: 'busy', nothingWritten: true });
  await expect.poll(() => standIn.runs.length, { timeout: 20_000 }).toBe(4);
  runner.close();
  expect(await Promise.all(four)).toEqual(Array.from({ length: 4 }, () => ({ ok: false, fault: 'interrupted', nothingWritten: false })));
});

test('without the program it says so', async () => {
  expect(await new Osascript(folder.at('nothing')).run('x', [], LONG)).toEqual({ ok: false, fault: 'unavailable', nothingWritten: true });
});

test('every fault has a sentence, and none repeats what an app said', () => {
  for (const fault of ['not-permitted', 'not-running', 'not-found', 'other-members', 'other-mail', 'timed-out', 'interrupted', 'too-long', 'busy', 'unavailable', 'failed'] as const) {
    for (const app of ['Mail', 'Messages'] as const) expect(faultSentence(fault, app)).toMatch(/^(?:[A-Z]|macOS ).*\.$/);
  }
});
