import { expect, it } from 'vitest';
import { reportText } from './report-text.ts';

it('writes one line a row with its state, evidence and fix', () => {
  expect(reportText('1.2.0', [
    { id: 'mail', title: 'Mail', state: 'ok', evidence: 'index V10, 2 accounts', fix: null },
    { id: 'messages', title: 'Messages', state: 'warning', evidence: 'file not found', fix: 'Open Messages once.' },
    { id: 'wake', title: 'Last wake', state: 'cant-check', evidence: 'no wake in this run', fix: null },
  ], Date.UTC(2026, 10, 12, 9, 0, 0))).toBe([
    'Belfry 1.2.0, 2026-11-12T09:00:00.000Z',
    '(ok) Mail: index V10, 2 accounts',
    '(warning) Messages: file not found [Open Messages once.]',
    "(can't check) Last wake: no wake in this run",
    '',
  ].join('\n'));
});

it("leaves out the owner's name, which stands in the path of the home folder", () => {
  const text = reportText('1', [{ id: 'location', title: 'Location', state: 'ok', evidence: '/Users/ada lovelace/Applications/Belfry.app', fix: 'Look into /home/ada/.local' }], 0);
  expect(text).not.toContain('ada');
  expect(text).toContain('~/Applications/Belfry.app');
  expect(text).toContain('~/.local');
});
