import { answerFacts } from '../../app/contract/answer-words.ts';
import { PersonName } from '../parts/person-name.tsx';
import { membersWords, visibleText, type Outgoing } from './waiting-words.ts';
import './outgoing-text.css';

/** All that would go out, and to whom: nothing is sent that was not shown. */
export function OutgoingText({ entry }: { readonly entry: Outgoing }) {
  return (
    <div className="outgoing">
      <dl className="outgoing-facts">
        {entry.kind === 'send'
          ? (
            <>
              <Fact name={entry.chat.isGroup ? 'Group' : 'Chat'} text={entry.chat.service === null ? entry.chat.name : `${entry.chat.name} (${entry.chat.service})`} />
              <Fact name="Read by" text={membersWords(entry.chat)} />
            </>
          )
          : (
            <>
              {entry.answers && answerFacts(entry.answers).map(({ name, text }) => <Fact key={name} name={name} text={text} />)}
              {entry.to.length > 0 && <Fact name="To" text={entry.to.join(', ')} />}
              {entry.cc.length > 0 && <Fact name="Cc" text={entry.cc.join(', ')} />}
              {/* Mail makes that of an answer. */}
              {!entry.answers && <Fact name="Subject" text={entry.subject === '' ? 'none' : entry.subject} />}
            </>
          )}
      </dl>
      {/* A box that scrolls must be reachable by keyboard. */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex */}
      <div role="group" tabIndex={0} aria-label={entry.kind === 'send' ? 'The message' : 'The draft'} className="outgoing-text"><bdi dir="auto">{visibleText(entry.text)}</bdi></div>
    </div>
  );
}

function Fact({ name, text }: { readonly name: string; readonly text: string }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd><PersonName text={text} whole /></dd>
    </div>
  );
}
