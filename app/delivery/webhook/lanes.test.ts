import { expect, test } from 'vitest';
import { Lanes } from './lanes.ts';

/** Work that ends when it is told to. */
function work(lanes: Lanes, host: string, troubled = false) {
  let started = false;
  let end = () => {};
  const done = lanes.run(host, troubled, () => {
    started = true;
    return new Promise<void>((finish) => { end = finish; });
  });
  return { get started() { return started; }, end: () => end(), done };
}
const turn = () => new Promise<void>((done) => void setImmediate(done));
const started = (all: readonly { started: boolean }[]) => all.filter((each) => each.started).length;

test('16 requests to one host at a time; the next starts as one ends, in order', async () => {
  const lanes = new Lanes();
  const all = Array.from({ length: 20 }, () => work(lanes, 'a'));
  await turn();
  expect(started(all)).toBe(16);
  all[3]!.end();
  await turn();
  expect(started(all)).toBe(17);
  expect(all[16]!.started).toBe(true);
});

test('those whose last try failed share 4 places of their host: the others go on', async () => {
  const lanes = new Lanes();
  const bad = Array.from({ length: 30 }, () => work(lanes, 'a', true));
  await turn();
  expect(started(bad)).toBe(4);
  const good = Array.from({ length: 5 }, () => work(lanes, 'a'));
  await turn();
  expect(started(good)).toBe(5);
});

test('64 requests in all; a host that waits is not forgotten behind one that has much to send', async () => {
  const lanes = new Lanes();
  const busy = ['a', 'b', 'c', 'd'].flatMap((host) => Array.from({ length: 30 }, () => work(lanes, host)));
  const late = work(lanes, 'e');
  await turn();
  expect(started(busy)).toBe(64);
  expect(late.started).toBe(false);
  // Each of the five hosts has its turn within five ends.
  for (const each of busy.filter((one) => one.started).slice(0, 5)) each.end();
  await turn();
  expect(late.started).toBe(true);
});

test('work that throws gives its place back', async () => {
  const lanes = new Lanes();
  for (let times = 0; times < 40; times += 1) await expect(lanes.run('a', true, () => Promise.reject(new Error('x')))).rejects.toThrow('x');
  expect(await lanes.run('a', true, () => Promise.resolve(1))).toBe(1);
});
