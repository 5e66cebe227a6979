import { expect, test } from 'vitest';
import { places } from '../fixtures/made-up.ts';
import { allOf, changesOf, fullName, groupsOf, outerOf, searchGroups } from './left-out.ts';

const groups = groupsOf(places());
const of = (place: string) => allOf(places()).find((each) => each.place === place)!;

test('a mailbox takes along what is below it, and an account all that it holds', () => {
  const work = groups[1]!;
  expect(outerOf(work, of('b2d1/projects/belfry'), new Set(['b2d1/projects']))?.name).toBe('Projects');
  expect(outerOf(work, of('b2d1/projects'), new Set(['b2d1/projects']))).toBeNull();
  expect(outerOf(work, of('b2d1/inbox'), new Set(['b2d1']))?.name).toBe('Work');
  // A name that only begins the same lies beside it.
  expect(outerOf(work, { ...of('b2d1/projects'), place: 'b2d1/projects-old' }, new Set(['b2d1/projects']))).toBeNull();
});

test('a search finds mailboxes by name, and an account with all of its own', () => {
  expect(searchGroups(groups, 'PAY').map(({ account, mailboxes }) => [account.name, mailboxes.map(({ name }) => name)])).toEqual([['Work', ['Projects/Payroll']]]);
  expect(searchGroups(groups, 'work')[0]!.mailboxes).toHaveLength(7);
  expect(searchGroups(groups, 'nothing')).toEqual([]);
});

test('what a choice leaves out and lifts', () => {
  const { added, lifted } = changesOf(places(), new Set(['b2d1/sent']));
  expect(added.map(fullName)).toEqual(['Work/Sent']);
  expect(lifted.map(fullName)).toEqual(['iCloud/Receipts']);
  expect(changesOf(places(), new Set(['a1c0/receipts']))).toEqual({ added: [], lifted: [] });
});
