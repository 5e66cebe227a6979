import { expect, it } from 'vitest';
import { needsMove, startStep, stepAfter, stepBefore, stepWords } from './steps.ts';

it('numbers the five steps and nothing else', () => {
  expect((['welcome', 'access', 'events', 'senders', 'connect', 'try', 'done'] as const).map(stepWords)).toEqual([
    null, 'Step 1 of 5', 'Step 2 of 5', 'Step 3 of 5', 'Step 4 of 5', 'Step 5 of 5', null,
  ]);
});

it('goes forth to the end and back to the welcome', () => {
  expect(stepAfter('welcome')).toBe('access');
  expect(stepAfter('try')).toBe('done');
  expect(stepAfter('done')).toBe('done');
  expect(stepBefore('access')).toBe('welcome');
  expect(stepBefore('welcome')).toBe('welcome');
});

it('goes on where it was left, also after macOS quit the app; one that was ended starts over', () => {
  expect(startStep(null, 'access')).toBe('access');
  expect(startStep(null, 'done')).toBe('welcome');
  expect(startStep('try', 'welcome')).toBe('try');
  expect(startStep('nonsense', 'events')).toBe('events');
});

it('asks to move only a package that is somewhere else than in Applications', () => {
  expect(needsMove({ kind: 'app', location: 'translocated' })).toBe(true);
  expect(needsMove({ kind: 'app', location: 'ok' })).toBe(false);
  expect(needsMove({ kind: 'app', location: 'unpackaged' })).toBe(false);
  expect(needsMove({ kind: 'browser', location: 'outside-applications' })).toBe(false);
});
