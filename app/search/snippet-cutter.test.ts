import { mkdirSync, writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { emlxFile } from '../testing/mail-corpus.ts';
import { tempFolder } from '../testing/temp.ts';
import type { Hit } from './index-reader.ts';
import { noneTaken, SnippetCutter, takeBack, type Cut } from './snippet-cutter.ts';

const ACCOUNT = 'AAAAAAAA-0000-4000-8000-000000000001';
const INBOX = 7;
const MAILS = 8;
const CUT: Cut = { needles: ['walrus'], hidesCodes: true };
const hitOf = (mail: number): Hit => ({ mail, mailbox: INBOX, date: 0, score: null });
const hits = Array.from({ length: MAILS }, (_, nth) => hitOf(nth + 1));

/** Mails on disk, each with its number in its text. */
function place(more = '', size = MAILS) {
  const folder = tempFolder('cutter');
  const messages = folder.at('V10', ACCOUNT, 'INBOX.mbox', 'BBBBBBBB-0000-4000-8000-000000000002', 'Data', 'Messages');
  mkdirSync(messages, { recursive: true });
  for (let mail = 1; mail <= size; mail += 1) writeFileSync(`${messages}/${mail}.emlx`, emlxFile(Buffer.from(`Content-Type: text/plain\n\nThe walrus of mail number ${mail}.\n${more}`)));
  const cutter = (): SnippetCutter => {
    const made = new SnippetCutter();
    made.places(new Map([[INBOX, { accountId: ACCOUNT, path: 'INBOX' }]]), folder.at('V10'));
    return made;
  };
  return { cutter, [Symbol.dispose]: () => folder.remove() };
}

const TEXTS = hits.map(({ mail }) => `The walrus of mail number ${mail}.`);
const textsOf = (snippets: Awaited<ReturnType<SnippetCutter['cut']>>): (string | null)[] => snippets.map((snippet) => snippet?.text ?? null);

test('two threads cut a page once, whichever of them is faster', async () => {
  using ground = place();
  for (let ofOther = 0; ofOther <= MAILS; ofOther += 1) {
    for (const end of ['front', 'back'] as const) {
      const taken = noneTaken(MAILS);
      const isOthers = (nth: number): boolean => (end === 'front' ? nth >= MAILS - ofOther : nth < ofOther);
      for (let nth = 0; nth < MAILS; nth += 1) if (isOthers(nth)) taken[nth] = 1;
      const cutter = ground.cutter();
      expect(textsOf(await cutter.cut(hits, CUT, taken, end))).toEqual(TEXTS.map((text, nth) => (isOthers(nth) ? null : text)));
      expect(textsOf(await cutter.cut(hits, CUT, taken, end === 'front' ? 'back' : 'front'))).toEqual(hits.map(() => null));
    }
  }
});

test('both at once leave nothing out', async () => {
  using ground = place();
  const taken = noneTaken(MAILS);
  const [front, back] = await Promise.all([ground.cutter().cut(hits, CUT, taken, 'front'), ground.cutter().cut(hits, CUT, taken, 'back')]);
  expect(hits.map((_, nth) => [front[nth], back[nth]].filter((each) => each !== null).map((each) => each!.text))).toEqual(TEXTS.map((text) => [text]));
});

test('a mail that has no file, no text or no known mailbox has no snippet; the others have theirs', async () => {
  using ground = place();
  const page = [hitOf(1), hitOf(99), { ...hitOf(2), mailbox: 8 }, hitOf(3)];
  expect(textsOf(await ground.cutter().cut(page, CUT, noneTaken(page.length), 'front'))).toEqual([TEXTS[0], null, null, TEXTS[2]]);
});

test('many mails in a row leave turns to the rest of the program', async () => {
  const [size, bytes] = [60, 50_000];
  using ground = place('word '.repeat(bytes / 5), size);
  const page = Array.from({ length: size }, (_, nth) => hitOf(nth + 1));
  let turns = 0;
  let isCutting = true;
  const count = (): void => {
    turns += 1;
    if (isCutting) setImmediate(count);
  };
  setImmediate(count);
  const snippets = await ground.cutter().cut(page, CUT, noneTaken(size), 'back');
  isCutting = false;
  expect(snippets.every((snippet) => snippet !== null)).toBe(true);
  // Each mail is gone through at least twice: as it is written, and as a text.
  expect(turns).toBeGreaterThan((2 * size * bytes) / (256 * 1024) - 1);
});

test('once it may not go on, or is stopped, neither thread takes another mail', async () => {
  using ground = place();
  for (const isStopped of [false, true]) {
    const taken = noneTaken(MAILS);
    const [back, front] = [ground.cutter(), ground.cutter()];
    let asked = 0;
    const cutting = back.cut(hits, CUT, taken, 'back', () => {
      asked += 1;
      if (isStopped && asked === 3) back.stop();
      return isStopped || asked < 4;
    });
    expect(textsOf(await cutting)).toEqual(TEXTS.map((text, nth) => (nth < MAILS - 3 ? null : text)));
    expect(textsOf(await front.cut(hits, CUT, taken, 'front'))).toEqual(hits.map(() => null));
  }
});

test('what the other thread took and did not deliver is cut after all', async () => {
  using ground = place();
  const taken = noneTaken(MAILS);
  taken.fill(1, 0, 5);
  const mine = await ground.cutter().cut(hits, CUT, taken, 'back');
  takeBack(taken, 'front');
  const rest = await ground.cutter().cut(hits, CUT, taken, 'back');
  expect([textsOf(mine), textsOf(rest)]).toEqual([TEXTS.map((text, nth) => (nth < 5 ? null : text)), TEXTS.map((text, nth) => (nth < 5 ? text : null))]);
});

test('pages at once are cut one after the other', async () => {
  using ground = place();
  const cutter = ground.cutter();
  const order: number[] = [];
  const pages = [0, 1, 2].map((page) => cutter.cut(hits, CUT, noneTaken(MAILS), 'back', () => { order.push(page); return true; }));
  await Promise.all(pages);
  expect(order).toEqual([0, 1, 2].flatMap((page) => hits.map(() => page)));
});

test('after an upgrade of Mail it reads in the new folder', async () => {
  using ground = place();
  const cutter = ground.cutter();
  cutter.places(new Map([[INBOX, { accountId: ACCOUNT, path: 'INBOX' }]]), '/nowhere/V11');
  expect(textsOf(await cutter.cut(hits, CUT, noneTaken(MAILS), 'back'))).toEqual(hits.map(() => null));
});
