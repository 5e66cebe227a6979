import { useState } from 'react';
import type { MailboxRow } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox, RadioGroup } from '../parts/checkbox.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useLookup } from '../parts/use-lookup.ts';
import { engine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';

interface MailboxesSheetProps {
  /** Null: every mailbox that mail arrives in. */
  readonly chosen: readonly string[] | null;
  readonly onClose: () => void;
}

/** Mailboxes are picked from those found, never typed (ui.md, Senders). They narrow; they let nobody in. */
export function MailboxesSheet({ chosen, onClose }: MailboxesSheetProps) {
  const [which, setWhich] = useState<'all' | 'some'>(chosen === null ? 'all' : 'some');
  const [names, setNames] = useState<ReadonlySet<string>>(new Set(chosen));
  const found = useLookup('all', () => engine.events.mailboxes({}), 0);
  // A mailbox that was chosen and is gone stays in the list, so that it can be taken out.
  const gone = [...new Set(chosen)].filter((name) => found.value !== null && !found.value.some((mailbox) => mailbox.name === name));
  const accounts = Map.groupBy(found.value ?? [], ({ account }) => account);

  function choose(name: string, on: boolean) {
    const next = new Set(names);
    if (on) next.add(name);
    else next.delete(name);
    setNames(next);
  }

  async function save() {
    if (await run(engine.events.setMailboxes({ mailboxes: which === 'all' ? null : [...names] }))) onClose();
  }

  return (
    <Sheet
      title="Mailboxes for New mail" onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={which === 'some' && names.size === 0} onClick={() => void save()}>Save</Button>
        </>
      )}
    >
      <RadioGroup
        label="New mail counts in" value={which} onChange={setWhich}
        options={[{ value: 'all', label: 'Every mailbox that mail arrives in' }, { value: 'some', label: 'Only these' }]}
      />
      {which === 'some' && (
        <>
          {found.problem && <p className="field-problem" role="alert">{found.problem}</p>}
          {found.value?.length === 0 && <p className="muted">No mailbox was found. Belfry lists them once it can read Mail.</p>}
          {[...accounts].map(([account, mailboxes]) => (
            <fieldset key={account}>
              <legend className="events-account"><PersonName text={account} /></legend>
              {mailboxes.map((mailbox) => (
                <Checkbox key={mailbox.name} label={<PersonName text={leafOf(mailbox)} />} checked={names.has(mailbox.name)} onChange={(on) => choose(mailbox.name, on)} />
              ))}
            </fieldset>
          ))}
          {gone.map((name) => <Checkbox key={name} label={<><PersonName text={name} /> (no longer there)</>} checked={names.has(name)} onChange={(on) => choose(name, on)} />)}
        </>
      )}
    </Sheet>
  );
}

/** Without the account, under whose name it stands. */
const leafOf = ({ name, account }: MailboxRow): string => (name.startsWith(`${account}/`) ? name.slice(account.length + 1) : name);
