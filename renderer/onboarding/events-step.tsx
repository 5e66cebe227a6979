import { EVENT_TITLES, many } from '../../app/contract/glance.ts';
import type { Access, EventRow } from '../../app/contract/values.ts';
import { cannotTurnOn, sourceName, storeOf } from '../events/event-notes.ts';
import { Button } from '../parts/button.tsx';
import { Switch } from '../parts/switch.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import { AsideButton, StepFrame, type StepProps } from './step.tsx';
import { stepWords } from './steps.ts';

export function EventsStep({ onNext, onBack }: StepProps) {
  const slices = useEngine((store) => store.slices);
  return (
    <StepFrame
      title="Events" number={stepWords('events')}
      actions={<><Button look="main" onClick={onNext}>Continue</Button><AsideButton onClick={onBack}>Back</AsideButton></>}
    >
      <p>What may your agent hear about? Both can be turned off again at any time.</p>
      <ul role="list" className="step-card">
        {slices?.events.map((event) => (
          <li key={event.type} className="step-row">
            <div className="step-words">
              <p className="step-name">{EVENT_TITLES[event.type]}</p>
              <p id={`step-${event.type}`} className="muted">{foundWords(event, slices.access)}</p>
            </div>
            <Switch
              label={EVENT_TITLES[event.type]} on={event.on} disabled={cannotTurnOn(event, slices.access)} describedBy={`step-${event.type}`}
              onChange={(on) => void run(engine.events.set({ type: event.type, on }))}
            />
          </li>
        ))}
      </ul>
      {slices === null && <p className="muted">Starting...</p>}
    </StepFrame>
  );
}

function foundWords(event: EventRow, access: Access): string {
  const name = sourceName(event.type);
  switch (storeOf(event.type, access).state) {
    case 'readable':
      return event.accounts === null ? `Found: ${name} on this Mac` : `Found: ${many(event.accounts, 'account')}`;
    case 'denied':
      return 'Starts once Belfry has access.';
    case 'missing':
      return `${name} isn't set up on this Mac.`;
    case 'unknown':
      return `Can't tell yet whether ${name} is set up.`;
  }
}
