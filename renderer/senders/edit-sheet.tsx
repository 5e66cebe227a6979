import { useState } from 'react';
import type { SenderRow } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox, RadioGroup } from '../parts/checkbox.tsx';
import { Address } from '../parts/person-name.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { Switch } from '../parts/switch.tsx';
import { Time } from '../parts/time.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { engine } from '../stores/engine-store.ts';
import { BacktestBox } from './backtest-box.tsx';
import { ExceptionsField, exceptionsOf } from './exceptions-field.tsx';
import { forWords, KINDS, sendsNoMail } from './rule-words.ts';
import './edit-sheet.css';

const TARGETS = (['both', 'mail', 'messages'] as const).map((value) => ({ value, label: forWords(value) }));

interface EditSheetProps {
  readonly rule: SenderRow;
  readonly onClose: () => void;
  readonly onRemove: () => void;
}

/** One rule: on, what it rings for, and for a domain its subdomains and exceptions. */
export function EditSheet({ rule, onClose, onRemove }: EditSheetProps) {
  const [on, setOn] = useState(rule.on);
  const [target, setTarget] = useState(rule.for);
  const [subdomains, setSubdomains] = useState(rule.subdomains);
  const [except, setExcept] = useState(rule.except.join(', '));
  const { attempt, busy } = useBusyRun();
  const isDomain = rule.kind === 'domain';

  async function save() {
    const patch = { on, ...(sendsNoMail(rule.kind) ? {} : { for: target }), ...(isDomain ? { subdomains, except: [...exceptionsOf(except)] } : {}) };
    if (await attempt(engine.senders.set({ sender: rule.value, patch }))) onClose();
  }

  return (
    <Sheet
      title="Edit sender" wide onClose={onClose}
      actions={(
        <>
          <Button onClick={onRemove}>Remove</Button>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={busy} onClick={() => void save()}>Save</Button>
        </>
      )}
    >
      <dl className="edit-facts">
        <dt>Sender</dt>
        <dd><Address text={rule.display} whole /></dd>
        <dt>Kind</dt>
        <dd>{KINDS[rule.kind]}</dd>
        <dt>Last</dt>
        <dd><Time at={rule.lastAt} /></dd>
      </dl>
      <Switch label="On" on={on} onChange={setOn} visibleLabel />
      {sendsNoMail(rule.kind)
        ? <p className="muted">For Messages. A number sends no mail.</p>
        : <RadioGroup label="For" value={target} options={TARGETS} onChange={setTarget} />}
      {isDomain && (
        <>
          <Checkbox label="Include subdomains" checked={subdomains} onChange={setSubdomains} />
          <ExceptionsField text={except} onChange={setExcept} />
        </>
      )}
      <BacktestBox senders={[rule]} subdomains={isDomain && subdomains} for={target} hasExceptions={isDomain && except.trim() !== ''} />
    </Sheet>
  );
}
