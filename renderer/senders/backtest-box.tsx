import { useState } from 'react';
import { EVENT_TITLES } from '../../app/contract/glance.ts';
import type { SenderRow } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Address, PersonName } from '../parts/person-name.tsx';
import { Time } from '../parts/time.tsx';
import { problemOf } from '../stores/notice-store.ts';
import { engine, useEngine } from '../stores/engine-store.ts';
import { useView } from '../stores/view-store.ts';
import { backtestSentence, backtestTargets, joinBacktests, TESTED, type BacktestResult } from './backtests.ts';
import type { ParsedEntry } from './paste.ts';
import './backtest-box.css';

interface BacktestBoxProps {
  readonly senders: readonly ParsedEntry[];
  readonly subdomains: boolean;
  readonly for: SenderRow['for'];
  readonly hasExceptions: boolean;
}

/** What rules would have let through: the stores are read only when the button is pressed. */
export function BacktestBox({ senders, subdomains, for: target, hasExceptions }: BacktestBoxProps) {
  // An answer belongs to the question it was given to.
  const question = JSON.stringify([senders.map(({ value }) => value), subdomains, target]);
  const [answer, setAnswer] = useState<{ readonly question: string; readonly result: BacktestResult | null; readonly problem: string | null } | null>(null);
  const [busy, setBusy] = useState(false);
  const current = answer?.question === question ? answer : null;
  const targets = backtestTargets(senders, subdomains);

  async function look() {
    setBusy(true);
    try {
      const answers = [];
      for (const { value, kind } of targets.slice(0, TESTED)) {
        answers.push(await engine.senders.backtest({ sender: value, subdomains: subdomains && kind === 'domain', for: target, examples: 10 }));
      }
      setAnswer({ question, result: joinBacktests(answers, target, useEngine.getState().slices?.events ?? []), problem: null });
    } catch (error) {
      setAnswer({ question, result: null, problem: problemOf(error) });
    } finally {
      setBusy(false);
    }
  }

  return (
    <div className="backtest">
      <Button onClick={() => void look()} disabled={busy || senders.length === 0}>{busy ? 'Looking...' : 'Try on the Last 30 Days'}</Button>
      <div role="status">
        {current?.problem && <p className="field-problem">{current.problem}</p>}
        {current?.result && <Result result={current.result} tested={Math.min(TESTED, targets.length)} of={targets.length} hasExceptions={hasExceptions} />}
      </div>
    </div>
  );
}

function Result({ result, tested, of, hasExceptions }: { readonly result: BacktestResult; readonly tested: number; readonly of: number; readonly hasExceptions: boolean }) {
  const hidden = useView((view) => view.hideDetails);
  return (
    <>
      <p>{backtestSentence(result)}{hasExceptions && result.count > 0 ? ' Exceptions are not taken off.' : ''}</p>
      {tested < of && <p className="hint">The first {tested} of {of} senders were tried.</p>}
      {result.unread.map((type) => <p key={type} className="hint">{EVENT_TITLES[type]} is off or can't be read, so it was not looked at.</p>)}
      {result.examples.length > 0 && !hidden && (
        <ul role="list" className="backtest-list" aria-label="The newest of them">
          {result.examples.map(({ at, type, sender, name, subject }, index) => (
            // Examples have no id and never change places.
            <li key={index} className="backtest-row">
              <Time at={at} never="" />
              <span className="backtest-sender">{name === null ? <Address text={sender} /> : <PersonName text={name} />}</span>
              <span className="backtest-subject muted">{subject === null ? EVENT_TITLES[type] : <PersonName text={subject} />}</span>
            </li>
          ))}
        </ul>
      )}
    </>
  );
}
