import { describe, expect, it } from 'vitest';
import { daysBetween, dayWords, hourMinute, hourMinuteSecond, untilWords, whenWords } from './time-words.ts';

// Thursday, local time.
const NOW = new Date(2026, 10, 12, 10, 42, 30).getTime();
const on = (month: number, day: number, hours = 9, minutes = 5, year = 2026) => new Date(year, month - 1, day, hours, minutes, 7).getTime();

it('writes times with two digits each', () => {
  expect(hourMinute(on(11, 12))).toBe('09:05');
  expect(hourMinuteSecond(on(11, 12, 0, 0))).toBe('00:00:07');
});

it('counts local days, not spans of 24 hours', () => {
  expect(daysBetween(on(11, 11, 23, 59), on(11, 12, 0, 0))).toBe(1);
  expect(daysBetween(on(11, 12, 0, 0), on(11, 12, 23, 59))).toBe(0);
  // Across the end of summer time, where a day has 25 hours.
  expect(daysBetween(on(10, 24, 12), on(10, 26, 12))).toBe(2);
});

describe('when something was', () => {
  it.each([
    ['today', on(11, 12, 8, 15), '08:15'],
    ['yesterday', on(11, 11), 'Wed'],
    ['six days ago', on(11, 6), 'Fri'],
    ['seven days ago: the day of the week would mislead', on(11, 5), '5 Nov'],
    ['another year', on(11, 12, 9, 5, 2025), '12 Nov 2025'],
    ['a little in the future, by a clock that differs', on(11, 12, 10, 50), '10:50'],
  ])('%s', (_, at, words) => {
    expect(whenWords(at, NOW)).toBe(words);
  });
});

it('says until when: the time alone only if it is today', () => {
  expect(untilWords(on(11, 12, 11, 30), NOW)).toBe('11:30');
  expect(untilWords(on(11, 13, 0, 0), NOW)).toBe('Fri 00:00');
  expect(untilWords(on(12, 24, 8, 0), NOW)).toBe('24 Dec 08:00');
});

it('names the days of a list', () => {
  expect(dayWords(NOW, NOW)).toBe('Today');
  expect(dayWords(on(11, 11), NOW)).toBe('Yesterday');
  expect(dayWords(on(11, 10), NOW)).toBe('Tue 10 Nov');
});
