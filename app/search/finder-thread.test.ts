import { Worker } from 'node:worker_threads';
import { afterEach, expect, test, vi } from 'vitest';
import { VirtualClock } from '../testing/virtual-clock.ts';
import { FinderThread, SEARCH_MS, START_MS, type Reply } from './finder-thread.ts';
import type { FinderData, Question } from './index-finder.ts';
import { noneTaken } from './snippet-cutter.ts';

/** Answers with the offset that it was asked with; an odd one is worked on for ever. */
const SCRIPT = new URL(`data:text/javascript,${encodeURIComponent(`
  import { parentPort } from 'node:worker_threads';
  parentPort.postMessage('ready');
  parentPort.on('message', ({ kind, id, question }) => {
    if (kind === 'stop') return parentPort.close();
    if (kind !== 'ask') return;
    if (question.offset % 2 === 1) for (;;);
    parentPort.postMessage({ id, reply: { hits: [], count: question.offset, isExact: true, order: 'best' } });
  });
`)}`);
const DATA: FinderData = { role: 'find', path: '', key: { plain: true } };
const NARROWING = { column: null, mailboxes: null, exceptMailboxes: [], after: null, before: null, senders: null };
const question = (offset: number): Question & { kind: 'find' } => ({ kind: 'find', query: { groups: [], excluded: [] }, narrowing: NARROWING, offset, limit: 1 });

const threads: FinderThread[] = [];
afterEach(async () => {
  for (const thread of threads.splice(0)) await thread.stop();
});

async function place() {
  const clock = new VirtualClock();
  const thread = new FinderThread(DATA, SCRIPT, clock);
  threads.push(thread);
  const ask = async (offset: number) => {
    const reply: Reply<Question & { kind: 'find' }> = await thread.ask(question(offset));
    return typeof reply === 'string' ? reply : reply.count;
  };
  // The thread runs.
  expect(await ask(2)).toBe(2);
  return { clock, ask, thread };
}

test('a question that takes too long is given up alone; those behind it are answered', async () => {
  const { clock, ask } = await place();
  const asked = [ask(1), ask(4), ask(6)];
  clock.advance(SEARCH_MS);
  expect(await Promise.all(asked)).toEqual(['too-long', 4, 6]);
  expect(await ask(8)).toBe(8);
});

test('time runs for the question that is worked on, not for those that wait', async () => {
  const { clock, ask } = await place();
  const slow = ask(1);
  clock.advance(SEARCH_MS - 1);
  const late = [ask(3), ask(4)];
  clock.advance(1);
  expect(await slow).toBe('too-long');
  clock.advance(SEARCH_MS - 1);
  const last = ask(6);
  clock.advance(1);
  expect([...(await Promise.all(late)), await last].slice(0, 1)).toEqual(['too-long']);
});

test('no more than fifty wait', async () => {
  const { clock, ask } = await place();
  const asked = [1, ...Array.from({ length: 49 }, (_, nth) => 2 * nth)].map(ask);
  expect(await ask(100)).toBe('busy');
  clock.advance(SEARCH_MS);
  expect((await Promise.all(asked)).slice(0, 3)).toEqual(['too-long', 0, 2]);
});

test('a thread that is still starting is not ended: to end one that loads a native library ends the process', async () => {
  const clock = new VirtualClock();
  // Runs, and never says that it is ready.
  const thread = new FinderThread(DATA, new URL(`data:text/javascript,${encodeURIComponent(`
    import { parentPort } from 'node:worker_threads';
    parentPort.on('message', ({ kind }) => { if (kind === 'stop') parentPort.close(); });
  `)}`), clock);
  threads.push(thread);
  const ended = vi.spyOn(Worker.prototype, 'terminate');
  const asked = thread.ask(question(2));
  clock.advance(START_MS - 1);
  const later = thread.ask(question(4));
  clock.advance(START_MS);
  expect(await Promise.all([asked, later])).toEqual(['busy', 'busy']);
  expect(ended).not.toHaveBeenCalled();
  ended.mockRestore();
});

test('once stopped it starts no other thread, until it is started again', async () => {
  const { ask, thread } = await place();
  await thread.stop();
  expect(await ask(2)).toBe('unreadable');
  thread.start();
  expect(await ask(4)).toBe(4);
});

test('snippets take no place from searches', async () => {
  const { clock, ask, thread } = await place();
  const searches = [1, ...Array.from({ length: 48 }, (_, nth) => 2 * nth)].map(ask);
  const snippets = Array.from({ length: 60 }, () => thread.ask({ kind: 'snippets', hits: [], cut: { needles: [], hidesCodes: true }, taken: noneTaken(0), offset: 0 } as Question));
  searches.push(ask(2));
  expect(await ask(100)).toBe('busy');
  clock.advance(SEARCH_MS);
  expect((await Promise.all(searches)).slice(0, 3)).toEqual(['too-long', 0, 2]);
  expect((await Promise.all(snippets)).every((reply) => typeof reply !== 'string')).toBe(true);
});
