import { describe, expect, test } from 'vitest';
import { parseQuery } from '../search/query.ts';
import { withoutSubject } from './subjectless-query.ts';

const written = (query: string) => {
  const answer = withoutSubject(query, 'all');
  return answer.ok ? answer.query : answer.reason;
};
const each = (text: string, join: string, minus = '') => ['from', 'body', 'attachment'].map((field) => `${minus}${field}:${text}`).join(join);

describe('a question while subjects are not sent', () => {
  test.each([
    ['a word is looked for everywhere else', 'rota', each('"rota"', ' OR ')],
    ['each of several', 'rota may', `${each('"rota"', ' OR ')} ${each('"may"', ' OR ')}`],
    ['a phrase', '"rota for may"', each('"rota for may"', ' OR ')],
    ['alternatives', 'rota OR plan', `${each('"rota"', ' OR ')} OR ${each('"plan"', ' OR ')}`],
    ['a beginning', 'rot*', each('"rot"*', ' OR ')],
    ['an exclusion', 'rota -draft', `${each('"rota"', ' OR ')} ${each('"draft"', ' ', '-')}`],
    ['an exclusion of either', 'rota -(draft OR old)', `${each('"rota"', ' OR ')} ${each('"draft"', ' ', '-')} ${each('"old"', ' ', '-')}`],
    ['an exclusion of both', 'rota -(draft old)', `${each('"rota"', ' OR ')} -(${each('"draft"', ' OR ')} ${each('"old"', ' OR ')})`],
    ['brackets', 'from:(ada bob) OR body:x', 'from:"ada" OR body:"x" from:"bob" OR body:"x"'],
    ['a field stays', 'from:ada body:rota attachment:"a b"', 'from:"ada" body:"rota" attachment:"a b"'],
    ['words and runs of other scripts', 'rota会議', `${each('"rota"', ' OR ')} ${each('"会議"', ' OR ')}`],
    ['what is no field is text', 're:rota', each('"re:rota"', ' OR ')],
  ])('%s', (_name, query, expected) => expect(written(query)).toBe(expected));

  test('what is made of it is read as it was meant: no term without a field, and none of the subject', () => {
    for (const query of ['rota', '"a b" OR c* -d "e', 'rota会議 OR x', '(a) AND "^b" NOT c', 're:rota from:ada', 'a -(b c) -(d OR e)']) {
      const answer = parseQuery(written(query));
      if (!answer.ok) throw new Error(answer.reason);
      for (const { column } of [...answer.query.groups.flat(), ...answer.query.excluded.flat(2)]) expect(['sender', 'body', 'attachments']).toContain(column);
    }
  });

  test('an exclusion of both stays one', () => {
    const answer = parseQuery(written('rota -(draft old)'));
    expect(answer).toMatchObject({ ok: true, notes: [] });
    expect(answer.ok && answer.query.excluded.map((groups) => groups.map((group) => group.map(({ words, column }) => `${column}:${words}`)))).toEqual([[
      ['sender:draft', 'body:draft', 'attachments:draft'], ['sender:old', 'body:old', 'attachments:old'],
    ]]);
  });

  test('what was not read of it is still told', () => {
    expect(withoutSubject('rota has:attachment', 'all')).toMatchObject({ ok: true, notes: [expect.stringMatching(/^Not known here and left out: has:\./)] });
    // Read once more, it is told then.
    expect(withoutSubject('rota has:attachment', 'body')).toMatchObject({ ok: true, notes: [] });
  });

  test('a question about subjects is refused, also by leaving out; so is one that grows too long', () => {
    for (const query of ['subject:rota', 'x SUBJECT:"a b"', 'x -subject:rota', 'x OR subject:y']) expect(written(query), query).toBe('query: the owner does not let subjects be sent, so they are not searched; leave subject: out.');
    expect(withoutSubject('rota', 'subject')).toEqual({ ok: false, reason: 'scope: the owner does not let subjects be sent, so they are not searched.' });
    expect(withoutSubject('rota', 'body')).toEqual({ ok: true, query: 'rota', notes: [] });
    expect(withoutSubject('rota subject:x', 'body')).toMatchObject({ ok: false });
    expect(written('a1 b1 c1 d1 e1 f1 g1 h1 i1 j1')).toMatch(/^from:/);
    for (const query of ['a1 b1 c1 d1 e1 f1 g1 h1 i1 j1 k1', 'x'.repeat(400)]) expect(written(query)).toMatch(/^query: .*at most 10 words and phrases without from:/);
    expect(written('-x')).toMatch(/^query: at least one word that must be there/);
  });
});
