import type { WaitingRow } from './values.ts';

type Answers = NonNullable<Extract<WaitingRow, { kind: 'draft' }>['answers']>;
export interface AnswerFact {
  readonly name: 'Answers' | 'Goes to' | 'To' | 'Cc';
  readonly text: string;
}

/** What an answer answers and where it goes, as the page and the command line show it. */
export function answerFacts({ from, subject, all, goesTo }: Answers): readonly AnswerFact[] {
  const mail: AnswerFact = { name: 'Answers', text: `${subject ?? 'a mail without a subject'}, from ${from}${all ? ', to everyone in it' : ''}` };
  if (goesTo === null) return [mail, { name: 'Goes to', text: 'not known: the file of this mail is not on this Mac, or names more than is read. The draft in Mail shows it.' }];
  const places = [['Goes to', goesTo.instead], ['To', goesTo.to], ['Cc', goesTo.cc]] as const;
  return [mail, ...places.flatMap(([name, { shown, count }]) => (count === 0 ? [] : [{ name, text: `${shown.join(', ')}${count > shown.length ? ` and ${count - shown.length} more` : ''}` }]))];
}
