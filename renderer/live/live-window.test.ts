import { describe, expect, test } from 'vitest';
import { indicesOf, MAX_ROWS, scrollToShow, windowOf } from './live-window.ts';

const at = (scrollTop: number, height = 560) => ({ scrollTop, height, rowHeight: 56 });

describe('the window of rows', () => {
  test('at the top: what is seen and eight rows beyond', () => {
    expect(windowOf(at(0), 10_000, null)).toEqual({ first: 0, last: 18, focused: null });
  });
  test('in the middle: eight rows beyond both edges, a row that is half seen included', () => {
    expect(windowOf(at(300 * 56 + 28), 10_000, null)).toEqual({ first: 292, last: 319, focused: null });
  });
  test('at the end, and past it when the list has become shorter', () => {
    expect(windowOf(at(90 * 56), 100, null)).toEqual({ first: 82, last: 100, focused: null });
    expect(windowOf(at(9000 * 56), 100, null)).toEqual({ first: 82, last: 100, focused: null });
  });
  test('a short list, an empty one and an overscrolled one', () => {
    expect(windowOf(at(0), 3, null)).toEqual({ first: 0, last: 3, focused: null });
    expect(indicesOf(windowOf(at(0), 0, null))).toEqual([]);
    expect(windowOf(at(-80), 100, null).first).toBe(0);
  });
  test('larger text makes rows higher', () => {
    expect(windowOf({ scrollTop: 1120, height: 560, rowHeight: 112 }, 100, null)).toEqual({ first: 2, last: 23, focused: null });
  });
});

test('the focused row stays mounted on either side, once, in reading order', () => {
  const away = at(300 * 56);
  expect(indicesOf(windowOf(away, 10_000, 4)).slice(0, 3)).toEqual([4, 292, 293]);
  expect(indicesOf(windowOf(away, 10_000, 900)).slice(-2)).toEqual([317, 900]);
  const inside = indicesOf(windowOf(away, 10_000, 305));
  expect(inside.filter((index) => index === 305)).toEqual([305]);
  expect(windowOf(away, 100, 250).focused).toBeNull();
});

test('never more than the limit, however high the window is', () => {
  for (const height of [100, 560, 2000, 2800, 9000]) {
    expect(indicesOf(windowOf(at(5000 * 56, height), 10_000, 1)).length).toBeLessThanOrEqual(MAX_ROWS);
  }
});

test('showing a row moves as little as can be', () => {
  expect(scrollToShow(3, at(0))).toBe(0);
  expect(scrollToShow(10, at(0))).toBe(56);
  expect(scrollToShow(2, at(560))).toBe(112);
  expect(scrollToShow(12, at(560))).toBe(560);
});
