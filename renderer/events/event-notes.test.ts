import { describe, expect, it } from 'vitest';
import type { Access } from '../../app/contract/values.ts';
import { eventRow } from '../fixtures/made-up.ts';
import { cannotTurnOn, eventNotes } from './event-notes.ts';

const access = (state: Access['mail']['state']): Access => {
  const store = { state, everRead: true, version: null };
  return { mail: store, messages: store, checkedAt: null };
};
const texts = (...args: Parameters<typeof eventNotes>) => eventNotes(...args).map(({ text }) => text);
const time = () => '10:42';

describe('the notes of an event (ui.md, Events)', () => {
  it('says that Mail is open, its accounts and when its index was read', () => {
    expect(texts(eventRow('mail.received'), access('readable'), false, time)).toEqual(['Mail is open', '2 accounts', 'index read 10:42']);
  });

  it('says that new mail arrives only while Mail runs, and claims nothing where it cannot tell', () => {
    expect(texts(eventRow('mail.received', { sourceOpen: false, readAt: null }), access('readable'), false, time)).toEqual(["Mail isn't open. New mail arrives only while Mail runs."]);
    expect(texts(eventRow('messages.received', { sourceOpen: null, readAt: null }), access('readable'), false, time)).toEqual([]);
  });

  it('says that nothing is read while an event is off', () => {
    expect(texts(eventRow('mail.received', { on: false }), access('denied'), false, time)).toEqual(['Off. Nothing is read for this event.']);
  });

  it('says when it starts: once there is access, or once the engine is up', () => {
    expect(eventNotes(eventRow('mail.received'), access('denied'), false, time)).toEqual([{ text: 'Starts once Belfry has access.', warns: true }]);
    expect(texts(eventRow('mail.received'), access('readable'), true, time)).toEqual(['Starting...']);
  });

  it('cannot be turned on without a store, but can be turned off', () => {
    expect(cannotTurnOn(eventRow('mail.received', { on: false }), access('missing'))).toBe(true);
    expect(cannotTurnOn(eventRow('mail.received', { on: true }), access('missing'))).toBe(false);
    expect(cannotTurnOn(eventRow('mail.received', { on: false }), access('denied'))).toBe(false);
    expect(texts(eventRow('mail.received', { on: false }), access('missing'), false, time)).toEqual(["Mail isn't set up on this Mac."]);
  });
});
