import { describe, expect, it } from 'vitest';
import type { Access } from '../../app/contract/values.ts';
import { FIXTURE_NOW, shellState } from '../fixtures/made-up.ts';
import { accessStep } from './access-words.ts';

type State = Access['mail']['state'];
const access = (mail: State, messages: State): Access => ({
  mail: { state: mail, everRead: false, version: null }, messages: { state: messages, everRead: false, version: null }, checkedAt: FIXTURE_NOW,
});
const step = (mail: State, messages: State, changes = {}) => accessStep(access(mail, messages), shellState(changes), FIXTURE_NOW);

describe('the access step (ui.md, Full Disk Access)', () => {
  it('waits while a store is denied, and before the first look', () => {
    expect(step('denied', 'denied')).toEqual({ id: 'waiting', sentence: 'Waiting. This page updates by itself.', notes: [], hint: null });
    expect(accessStep(null, shellState(), FIXTURE_NOW).id).toBe('waiting');
  });

  it('is granted once both can be read', () => {
    expect(step('readable', 'readable')).toMatchObject({ id: 'granted', sentence: 'Belfry can read Mail and Messages.' });
  });

  it('goes on with one store where the other was never used', () => {
    expect(step('readable', 'missing')).toMatchObject({ id: 'granted', sentence: 'Belfry can read Mail.', notes: ["Messages hasn't been used on this Mac."] });
    expect(step('denied', 'missing')).toMatchObject({ id: 'waiting', notes: ["Messages hasn't been used on this Mac."] });
  });

  it("can't tell where neither store is there, and never says that access is off", () => {
    expect(step('missing', 'missing').id).toBe('cant-tell');
  });

  it('asks for reopening only when a restart of the engine did not help', () => {
    expect(step('denied', 'denied', { engine: 'restarting' }).id).toBe('restarting');
    expect(step('denied', 'denied', { needsReopen: true }).id).toBe('reopen');
    expect(step('readable', 'readable', { needsReopen: true }).id).toBe('granted');
  });

  it('gives the hint 30 s after System Settings was opened, not before', () => {
    expect(step('denied', 'denied', { settingsOpenedAt: FIXTURE_NOW - 29_999 }).hint).toBeNull();
    expect(step('denied', 'denied', { settingsOpenedAt: FIXTURE_NOW - 30_000 }).hint).toBe('Already on? Select Belfry in the list, remove it with the minus button, then add it again.');
  });

  it('says that an administrator has to allow it where that is known, and while it is denied', () => {
    const administrator = 'An administrator has to allow this.';
    expect(step('denied', 'denied', { needsAdministrator: true })).toMatchObject({ id: 'waiting', notes: [administrator] });
    expect(step('denied', 'missing', { needsAdministrator: true }).notes).toContain(administrator);
    for (const needsAdministrator of [false, null]) expect(step('denied', 'denied', { needsAdministrator }).notes).toEqual([]);
    expect(step('readable', 'readable', { needsAdministrator: true }).notes).toEqual([]);
    // Access is on then: what is left needs nobody else.
    expect(step('denied', 'denied', { needsAdministrator: true, needsReopen: true })).toMatchObject({ id: 'reopen', notes: [] });
  });

  it('warns of a build that is not signed, in the app only', () => {
    const unsigned = "This build isn't signed, so macOS may ignore or forget the permission after an update.";
    expect(step('denied', 'denied', { signature: 'unsigned' }).notes).toEqual([unsigned]);
    expect(step('denied', 'denied', { signature: 'unsigned', kind: 'browser' }).notes).toEqual([]);
  });
});
