import { useState } from 'react';
import { many } from '../../app/contract/glance.ts';
import type { SenderRow } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox, RadioGroup } from '../parts/checkbox.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { engine, useEngine } from '../stores/engine-store.ts';
import { BacktestBox } from './backtest-box.tsx';
import { ExceptionsField, exceptionsOf } from './exceptions-field.tsx';
import { hasDomain } from './paste.ts';
import { SendersField, useTyped } from './senders-field.tsx';

const TARGETS = [
  { value: 'both', label: 'Mail and Messages as they fit' },
  { value: 'mail', label: 'Mail' },
  { value: 'messages', label: 'Messages' },
] as const;

const NO_RULES: readonly SenderRow[] = [];

interface AddSheetProps {
  readonly onClose: () => void;
  readonly initialText?: string;
}

export function AddSheet({ onClose, initialText = '' }: AddSheetProps) {
  const rules = useEngine(({ slices }) => slices?.senders) ?? NO_RULES;
  const [target, setTarget] = useState<SenderRow['for']>('both');
  const [subdomains, setSubdomains] = useState(false);
  const [except, setExcept] = useState('');
  const { attempt, busy } = useBusyRun();
  const typed = useTyped({ rules, for: target, initialText });
  const { paste } = typed;
  const domains = hasDomain(paste.senders);

  async function add() {
    const done = await attempt((async () => {
      const { senders } = await typed.readNow();
      const options = { for: target, ...(hasDomain(senders) ? { subdomains, except: [...exceptionsOf(except)] } : {}) };
      return engine.senders.add({ senders: senders.map(({ value }) => value), options });
    })());
    if (done) onClose();
  }

  return (
    <Sheet
      title="Add senders" wide onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={busy || paste.senders.length === 0} onClick={() => void add()}>
            {paste.senders.length === 0 ? 'Add' : `Add ${many(paste.senders.length, 'sender')}`}
          </Button>
        </>
      )}
    >
      <SendersField typed={typed} rules={rules} />
      <RadioGroup label="For" value={target} options={TARGETS} onChange={setTarget} />
      {domains && (
        <>
          <Checkbox label="Include subdomains" checked={subdomains} onChange={setSubdomains} hint="Also everyone at lists.example.org when example.org is added." />
          <ExceptionsField text={except} onChange={setExcept} />
        </>
      )}
      {paste.senders.length > 0 && (
        <BacktestBox senders={paste.senders} subdomains={domains && subdomains} for={target} hasExceptions={domains && except.trim() !== ''} />
      )}
    </Sheet>
  );
}
