import { many } from '../../app/contract/glance.ts';
import type { SenderRow } from '../../app/contract/values.ts';
import { Button, IconButton } from '../parts/button.tsx';
import { addressLabel } from '../parts/clean-name.ts';
import { Address } from '../parts/person-name.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { SendersField, useTyped } from '../senders/senders-field.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { offerUndo, run } from '../stores/notice-store.ts';
import { AsideButton, StepFrame, type StepProps } from './step.tsx';
import { stepWords } from './steps.ts';

const NO_RULES: readonly SenderRow[] = [];
/** The rest is in the window; here only the start is made. */
const SHOWN = 40;

export function SendersStep({ onNext, onBack }: StepProps) {
  const rules = useEngine(({ slices }) => slices?.senders) ?? NO_RULES;
  const typed = useTyped({ rules, for: 'both' });
  const { attempt, busy } = useBusyRun();
  const count = typed.paste.senders.length;
  const isTyped = typed.text.trim() !== '';

  /** @returns whether all that was typed is in the list now; what needs another look stays in the field */
  async function add(): Promise<boolean> {
    const left: string[] = [];
    const done = await attempt((async () => {
      const { senders, lines } = await typed.readNow();
      left.push(...lines.filter(({ state }) => state === 'refused' || state === 'confirm').map(({ text }) => text));
      return engine.senders.add({ senders: senders.map(({ value }) => value), options: { for: 'both' } });
    })());
    if (done) {
      typed.setText(left.map((text) => `${text}\n`).join(''));
      typed.area.current?.focus();
    }
    return done && left.length === 0;
  }

  async function goOn() {
    if (count === 0 || (await add())) onNext();
  }

  return (
    <StepFrame
      title="Who may trigger an event?" number={stepWords('senders')}
      actions={(
        <>
          <Button look={rules.length === 0 || isTyped ? 'normal' : 'main'} disabled={busy} onClick={() => void goOn()}>Continue</Button>
          <AsideButton onClick={onBack}>Back</AsideButton>
        </>
      )}
    >
      <SendersField typed={typed} rules={rules} lines={2}>
        {isTyped && (
          <div>
            <Button look="main" icon="plus" disabled={busy || count === 0} onClick={() => void add()}>{count === 0 ? 'Add' : `Add ${many(count, 'sender')}`}</Button>
          </div>
        )}
        {rules.length === 0
          ? <p className="muted">No senders yet. Until you add one, nothing is sent.</p>
          : (
            <ul role="list" className="step-chips" aria-label="Allowed senders">
              {rules.slice(0, SHOWN).map((rule) => (
                <li key={`${rule.kind} ${rule.value}`} className="step-chip">
                  <span><Address text={rule.display} /></span>
                  <IconButton dense icon="close" label={`Remove ${addressLabel(rule.display)}`} onClick={() => void remove(rule)} />
                </li>
              ))}
            </ul>
          )}
        {rules.length > SHOWN && <p className="muted">and {rules.length - SHOWN} more</p>}
      </SendersField>
      <p className="hint">Anyone can put any name in From. Treat an event as a hint, not as proof.</p>
    </StepFrame>
  );
}

async function remove(rule: SenderRow): Promise<void> {
  if (await run(engine.senders.remove({ senders: [rule.value] }))) offerUndo('Sender removed.', () => void run(engine.senders.undo({})));
}
