import { expect, test } from 'vitest';
import { skillText } from './skill.ts';

test('the text names its command throughout, every exit code once, and the next step of each refusal', () => {
  const text = skillText("'/Applications/Belfry.app/Contents/MacOS/belfry-mcp'");
  expect(text.match(/^'\/Applications\/Belfry\.app\/Contents\/MacOS\/belfry-mcp' probe wait /gm)).toHaveLength(2);
  expect(text).not.toMatch(/^belfry /m);
  expect([...text.matchAll(/^\| (\d) \|/gm)].map(([, code]) => code)).toEqual(['0', '1', '2', '3', '4', '5']);
  expect(text).toMatch(/CLIENT_NOT_APPROVED[^]*EVENT_DISABLED/);
  expect(text).toMatch(/^---\nname: [a-z-]+\ndescription: .+\n---\n/);
});

test('it is short: a page that is read into a context costs what it holds', () => {
  expect(skillText().length).toBeLessThan(3000);
});
