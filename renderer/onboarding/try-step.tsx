import { useEffect, useState } from 'react';
import type { LiveRow, TestHop } from '../../app/contract/values.ts';
import { quotedName } from '../../app/contract/health.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { Icon } from '../parts/icon.tsx';
import { Select } from '../parts/select.tsx';
import { hourMinuteSecond } from '../../app/contract/time-words.ts';
import { engine, useEngine, withEngine } from '../stores/engine-store.ts';
import { run, say } from '../stores/notice-store.ts';
import { setPreference, useInApp, usePreference, useShell } from '../stores/shell-store.ts';
import { AsideButton, StepFrame, type StepProps } from './step.tsx';
import { stepWords } from './steps.ts';

export function TryStep({ onNext, onBack }: StepProps) {
  const arrived = useArrival();
  const inApp = useInApp();
  return (
    <StepFrame
      title="Try it" number={stepWords('try')}
      actions={<><Button look="main" onClick={onNext}>Done</Button><AsideButton onClick={onBack}>Back</AsideButton></>}
    >
      <p>Send yourself a mail or message from an allowed sender.</p>
      <p className={`step-state${arrived ? ' step-granted' : ''}`} data-arrived={arrived !== null}>
        <Icon id={arrived ? 'check' : 'wait'} />
        <span>{arrived ? arrivalWords(arrived) : 'Waiting for one to arrive...'}</span>
      </p>
      <TestEvent />
      {inApp && <OpenAtLogin />}
      <p className="muted">
        {inApp ? "Belfry lives in the menu bar. If you don't see the icon, open Belfry again from Applications." : 'The engine goes on watching when this page is closed.'}
      </p>
    </StepFrame>
  );
}

/** The next real arrival from an allowed sender since this step shows; a test event proves no store. */
function useArrival(): LiveRow | null {
  const [arrived, setArrived] = useState<LiveRow | null>(null);
  useEffect(() => withEngine((client) => {
    // Rows from before this step come with the answer; only later ones count.
    const known = client.call.live.subscribe({ notMatched: false }).then(({ rows }) => Math.max(0, ...rows.map(({ id }) => id)), () => Infinity);
    const stop = client.on('live', ({ rows }) => void known.then((last) => {
      const row = rows.find(({ id, test, status, notArrival }) => id > last && !test && status !== 'missed' && notArrival === null);
      if (!row) return;
      setArrived(row);
      say(arrivalWords(row));
    }));
    return () => {
      stop();
      client.call.live.unsubscribe({}).catch(() => undefined);
    };
  }), []);
  return arrived;
}

/** Without a name: the set-up may be watched by others. */
function arrivalWords({ at, status, type }: LiveRow): string {
  const what = type === 'mail.received' ? 'A mail' : 'A message';
  const sent = status === 'delivered' || status === 'sent';
  return `${what} arrived at ${hourMinuteSecond(at)}${sent ? ' and was sent.' : '. No client has taken it yet.'}`;
}

const WORDS: Readonly<Record<string, string>> = { true: 'Yes', false: 'No', null: "Can't tell" };
const KINDS = { true: 'ok', false: 'problem', null: 'quiet' } as const;

function TestEvent() {
  const clients = useEngine(({ slices }) => slices?.clients);
  const connected = (clients ?? []).filter(({ state }) => state !== 'away' && state !== 'asking').toSorted((a, b) => Number(b.state === 'listening') - Number(a.state === 'listening'));
  const [chosen, setChosen] = useState('');
  const [hops, setHops] = useState<readonly TestHop[] | null>(null);
  const target = connected.find(({ id }) => id === chosen) ?? connected[0];
  if (!target) return <p className="muted">No client is connected yet. Open the app that you connected, and a test event can be sent to it.</p>;
  return (
    <>
      <div className="step-card">
        <div className="step-row">
          {connected.length > 1
            ? <Select label="To" value={target.id} options={connected.map((client) => ({ value: client.id, label: quotedName(client) }))} onChange={setChosen} />
            : <span className="step-words">To {quotedName(target)}</span>}
          <Button onClick={() => void run(engine.clients.test({ id: target.id })).then(setHops)}>Send a Test Event</Button>
        </div>
      </div>
      {hops && (
        <ol role="list" className="step-card" aria-label="How far the test event came">
          {hops.map(({ hop, ok, sentence }) => (
            <li key={hop} className="step-row"><span className="step-words">{sentence}</span><Badge kind={KINDS[`${ok}`]} text={WORDS[`${ok}`]!} /></li>
          ))}
        </ol>
      )}
    </>
  );
}

function OpenAtLogin() {
  const on = usePreference('openAtLogin') ?? false;
  const approval = useShell(({ state }) => state?.loginItem === 'requires-approval');
  return (
    <Checkbox
      label="Open Belfry at login" checked={on} onChange={(value) => void setPreference('openAtLogin', value)}
      hint={on && approval ? 'Allow Belfry in System Settings > General > Login Items.' : undefined}
    />
  );
}
