import type { Groups, Query, Term } from './query.ts';
import { fold, wordAt } from './snippet.ts';

/** Whether a text fits a query, by the same rules as in the index: for what is looked through and not indexed. */
export function matcherOf(query: Query): (text: string) => boolean {
  const fits = allOf(query.groups);
  const excluded = query.excluded.map(allOf);
  return (text) => {
    const folded = fold(text);
    return fits(folded) && !excluded.some((each) => each(folded));
  };
}

function allOf(groups: Groups): (folded: string) => boolean {
  const finders = groups.map((group) => group.map(finderOf));
  return (folded) => finders.every((group) => group.some((finds) => finds(folded)));
}

const WORD = /[\p{L}\p{N}\p{Co}\p{M}]/u;

/** A term of words and of runs without blanks needs all of its parts. */
function finderOf(term: Term): (folded: string) => boolean {
  const phrase = (term.words.match(/[\p{L}\p{N}\p{Co}\p{M}]+/gu) ?? []).map(fold);
  const runs = term.cjk.map(fold);
  const isPrefix = term.isPrefix && runs.length === 0;
  return (text) => runs.every((run) => text.includes(run)) && (phrase.length === 0 || hasPhrase(text, phrase, isPrefix));
}

/** The words one after the other, with nothing but separators between. */
function hasPhrase(text: string, phrase: readonly string[], isPrefix: boolean): boolean {
  const [first, ...rest] = phrase;
  for (let start = wordAt(text, first!, 0); start >= 0; start = wordAt(text, first!, start + 1)) {
    let end = start + first!.length;
    let fits = rest.length === 0 ? isEnd(text, end, isPrefix) : isEnd(text, end, false);
    for (const [nth, word] of rest.entries()) {
      if (!fits) break;
      while (end < text.length && !WORD.test(text[end]!)) end += 1;
      fits = text.startsWith(word, end) && isEnd(text, (end += word.length), isPrefix && nth === rest.length - 1);
    }
    if (fits) return true;
  }
  return false;
}

const isEnd = (text: string, at: number, isPrefix: boolean): boolean => isPrefix || at >= text.length || !WORD.test(text[at]!);

