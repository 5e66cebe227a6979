import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { ContractError } from '../../app/contract/port.ts';
import { closeProblem, enterSheet, offerUndo, run, say, tellGone, undoNow, useNotices } from './notice-store.ts';

beforeEach(() => {
  vi.useFakeTimers();
  useNotices.setState({ said: '', problem: null, offer: null, sheets: 0 });
});
afterEach(() => {
  vi.useRealTimers();
});

describe('run', () => {
  it('says the sentence of an outcome that is fine, and gives the outcome', async () => {
    const outcome = { ok: true as const, changed: true, sentence: 'New mail turned on.' };
    expect(await run(Promise.resolve(outcome))).toBe(outcome);
    expect(useNotices.getState()).toMatchObject({ said: 'New mail turned on.', problem: null });
  });

  it('shows the sentence of a refusal and gives null', async () => {
    expect(await run(Promise.resolve({ ok: false as const, code: 'refused' as const, message: 'This needs the app.' }))).toBeNull();
    expect(useNotices.getState().problem).toBe('This needs the app.');
  });

  it('shows why a call failed, and a fixed sentence for what nobody expected', async () => {
    expect(await run(Promise.reject(new ContractError('closed', 'The connection to Belfry is closed.')))).toBeNull();
    expect(useNotices.getState().problem).toBe('The connection to Belfry is closed.');
    await run(Promise.reject(new TypeError('x is undefined')));
    expect(useNotices.getState().problem).toBe('Belfry could not do this. Try again.');
    closeProblem();
    expect(useNotices.getState().problem).toBeNull();
  });

  it('gives any other value as it is', async () => {
    expect(await run(Promise.resolve([1, 2]))).toEqual([1, 2]);
  });
});

describe('undo (ui.md, section 5)', () => {
  it('is offered for 10 s', () => {
    const undo = vi.fn();
    offerUndo('Sender removed.', undo);
    vi.advanceTimersByTime(9999);
    expect(useNotices.getState().offer?.text).toBe('Sender removed.');
    vi.advanceTimersByTime(1);
    expect(useNotices.getState().offer).toBeNull();
    expect(undoNow()).toBe(false);
    expect(undo).not.toHaveBeenCalled();
  });

  it('happens once, and only for the newest offer, which has its own 10 s', () => {
    const [first, second] = [vi.fn(), vi.fn()];
    offerUndo('One removed.', first);
    vi.advanceTimersByTime(8000);
    offerUndo('Two removed.', second);
    vi.advanceTimersByTime(8000);
    expect(undoNow()).toBe(true);
    expect(undoNow()).toBe(false);
    expect(first).not.toHaveBeenCalled();
    expect(second).toHaveBeenCalledOnce();
  });
});

it('speaks the same sentence again when it is said again', () => {
  say('Copied.');
  const once = useNotices.getState().said;
  say('Copied.');
  expect(useNotices.getState().said).not.toBe(once);
  expect(useNotices.getState().said.trim()).toBe('Copied.');
});

it('counts open sheets, and begins each without the problem of what was before', async () => {
  await run(Promise.resolve({ ok: false as const, code: 'refused' as const, message: 'No.' }));
  const leave = enterSheet();
  expect(useNotices.getState()).toMatchObject({ sheets: 1, problem: null });
  leave();
  expect(useNotices.getState().sheets).toBe(0);
});

it('tells what is gone, unless that is what the owner is doing: then the outcome says it', async () => {
  tellGone('The token is no longer in the list.');
  expect(useNotices.getState()).toMatchObject({ problem: 'The token is no longer in the list.', said: 'The token is no longer in the list.' });
  closeProblem();
  const answered = Promise.withResolvers<{ ok: true; changed: true; sentence: string }>();
  const revoking = run(answered.promise);
  tellGone('The token is no longer in the list.');
  expect(useNotices.getState().problem).toBeNull();
  answered.resolve({ ok: true, changed: true, sentence: 'Revoked.' });
  await revoking;
  expect(useNotices.getState()).toMatchObject({ problem: null, said: 'Revoked.' });
});
