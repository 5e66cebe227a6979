import { beforeEach, describe, expect, test } from 'vitest';
import type { Access } from '../app/contract/values.ts';
import { VirtualClock } from '../app/testing/virtual-clock.ts';
import { AccessWatch, nextAccess, NO_ACCESS_YET, type AccessDelegate, type AccessFlow, type AccessSeen } from './access.ts';

type StoreState = Access['mail']['state'];
const looked = (mail: StoreState, messages: StoreState): AccessSeen => ({
  kind: 'engine', access: { mail: { state: mail, everRead: false, version: null }, messages: { state: messages, everRead: false, version: null }, checkedAt: 1 },
});
const fresh = (readable: boolean | null): AccessSeen => ({ kind: 'fresh', readable });
const up: AccessSeen = { kind: 'engine-up' };
const follow = (...seen: AccessSeen[]) => seen.reduce<readonly [AccessFlow, (string | null)[]]>(([flow, wishes], each) => {
  const [next, wish] = nextAccess(flow, each);
  return [next, [...wishes, wish]];
}, [NO_ACCESS_YET, []]);

describe('the rows of the Full Disk Access table', () => {
  test.each<[row: string, seen: AccessSeen[], flow: Partial<AccessFlow>, wishes: (string | null)[]]>([
    ['waiting: both denied, a fresh process is denied too', [looked('denied', 'denied'), fresh(false)], { engine: 'denied', needsReopen: false }, ['fresh', null]],
    ['waiting: one denied is enough', [looked('denied', 'readable')], { engine: 'denied' }, ['fresh']],
    ['granted: the engine reads', [looked('readable', 'readable')], { engine: 'readable', needsReopen: false }, [null]],
    ['granted after a fresh probe: only the engine starts again', [looked('denied', 'denied'), fresh(true)], { restarting: true, needsReopen: false }, ['fresh', 'restart']],
    ['and then reads', [looked('denied', 'denied'), fresh(true), up, looked('readable', 'readable')], { engine: 'readable', restarted: false, needsReopen: false }, ['fresh', 'restart', null, null]],
    ['if that fails: reopen', [looked('denied', 'denied'), fresh(true), up, looked('denied', 'denied'), fresh(true)], { needsReopen: true }, ['fresh', 'restart', null, 'fresh', null]],
    ['what the old engine still said meanwhile does not count', [looked('denied', 'denied'), fresh(true), looked('denied', 'denied'), fresh(true)], { restarting: true, needsReopen: false }, ['fresh', 'restart', null, null]],
    ['turned off again before the reopening', [looked('denied', 'denied'), fresh(true), up, looked('denied', 'denied'), fresh(true), fresh(false)], { needsReopen: false, restarted: false }, ['fresh', 'restart', null, 'fresh', null, null]],
    ['read at last by the engine itself', [looked('denied', 'denied'), fresh(true), up, looked('denied', 'denied'), fresh(true), looked('readable', 'readable')], { engine: 'readable', needsReopen: false }, ['fresh', 'restart', null, 'fresh', null, null]],
    ['one store missing: Continue stays possible', [looked('readable', 'missing')], { engine: 'readable' }, [null]],
    ["neither store present: can't tell", [looked('unknown', 'unknown')], { engine: 'unknown', needsReopen: false }, [null]],
    ["a fresh process that can't tell changes nothing", [looked('denied', 'missing'), fresh(null)], { engine: 'denied', restarting: false, needsReopen: false }, ['fresh', null]],
    ['managed or without a password: it stays denied', [looked('denied', 'denied'), fresh(false), looked('denied', 'denied'), fresh(false)], { engine: 'denied', restarted: false, needsReopen: false }, ['fresh', null, 'fresh', null]],
  ])('%s', (_row, seen, flow, wishes) => {
    const [found, wished] = follow(...seen);
    expect(found).toMatchObject(flow);
    expect(wished).toEqual(wishes);
  });
});

describe('when it looks', () => {
  let clock: VirtualClock;
  let shows: boolean;
  let told: string[];
  let states: [StoreState, StoreState];
  let freshReads: boolean | null;
  let watch: AccessWatch;
  const settle = async () => { for (let i = 0; i < 12; i += 1) await Promise.resolve(); };
  const pass = async (ms: number, step = 1000) => {
    for (let passed = 0; passed < ms; passed += step) {
      clock.advance(Math.min(step, ms - passed));
      await settle();
    }
  };
  beforeEach(() => {
    clock = new VirtualClock();
    shows = false;
    told = [];
    states = ['denied', 'denied'];
    freshReads = false;
    const delegate: AccessDelegate = {
      probeEngine: () => {
        told.push('look');
        const seen = looked(...states);
        return Promise.resolve(seen.kind === 'engine' ? seen.access : null);
      },
      probeFresh: () => {
        told.push('fresh');
        return Promise.resolve(freshReads);
      },
      restartEngine: () => told.push('restart'),
      stepShows: () => shows,
      needsReopen: (value) => told.push(`reopen ${value}`),
    };
    watch = new AccessWatch(delegate, clock);
    watch.start();
  });
  const count = (what: string) => told.filter((each) => each === what).length;

  test('every second while the step shows, and a fresh process at most every 3 s', async () => {
    shows = true;
    await pass(9000);
    expect(count('look')).toBe(9);
    expect(count('fresh')).toBe(3);
  });

  test('every ten minutes otherwise', async () => {
    await pass(1_800_000, 60_000);
    expect(count('look')).toBe(3);
  });

  test('one look at a time: whoever asks meanwhile gets that one', async () => {
    await Promise.all([watch.look(), watch.look(), watch.look()]);
    expect(count('look')).toBe(1);
  });

  test('granted: the engine is started again once; if that is not enough, the app has to be', async () => {
    shows = true;
    freshReads = true;
    await pass(1000);
    expect(told).toEqual(['look', 'fresh', 'restart']);
    watch.engineUp();
    await pass(9000);
    expect(count('restart')).toBe(1);
    expect(told).toContain('reopen true');
    states = ['readable', 'readable'];
    await pass(1000);
    expect(told.at(-1)).toBe('reopen false');
  });

  test('stopped, it looks no more', async () => {
    shows = true;
    watch.stop();
    await pass(5000);
    expect(told).toEqual([]);
  });
});
