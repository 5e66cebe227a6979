import type { SenderRow } from '../../app/contract/values.ts';
import { Button, IconButton } from '../parts/button.tsx';
import { Address } from '../parts/person-name.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { offerUndo, run } from '../stores/notice-store.ts';
import { openAddSender } from '../stores/view-store.ts';
import { AsideButton, StepFrame, type StepProps } from './step.tsx';
import { stepWords } from './steps.ts';

const NO_RULES: readonly SenderRow[] = [];
/** The rest is in the window; here only the start is made. */
const SHOWN = 40;

export function SendersStep({ onNext, onBack }: StepProps) {
  const rules = useEngine(({ slices }) => slices?.senders) ?? NO_RULES;
  const isEmpty = rules.length === 0;
  return (
    <StepFrame
      title="Who may trigger an event?" number={stepWords('senders')}
      actions={(
        <>
          <Button look={isEmpty ? 'normal' : 'main'} onClick={onNext}>Continue</Button>
          <AsideButton onClick={onBack}>Back</AsideButton>
        </>
      )}
    >
      <p>Only senders in this list can trigger an event: an address, everyone at a domain, or a phone number.</p>
      {isEmpty
        ? <p className="muted">No senders yet. Until you add one, nothing is sent.</p>
        : (
          <ul role="list" className="step-chips" aria-label="Allowed senders">
            {rules.slice(0, SHOWN).map((rule) => (
              <li key={`${rule.kind} ${rule.value}`} className="step-chip">
                <span><Address text={rule.display} /></span>
                <IconButton dense icon="close" label={`Remove ${rule.display}`} onClick={() => void remove(rule)} />
              </li>
            ))}
          </ul>
        )}
      {rules.length > SHOWN && <p className="muted">and {rules.length - SHOWN} more</p>}
      <div><Button look={isEmpty ? 'main' : 'normal'} icon="plus" onClick={() => openAddSender()}>Add Senders</Button></div>
      <p className="hint">Anyone can put any name in From. Treat an event as a hint, not as proof.</p>
    </StepFrame>
  );
}

async function remove(rule: SenderRow): Promise<void> {
  if (await run(engine.senders.remove({ senders: [rule.value] }))) offerUndo('Sender removed.', () => void run(engine.senders.undo({})));
}
