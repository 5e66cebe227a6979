import { useState } from 'react';
import { quotedName } from '../../app/contract/health.ts';
import type { ClientRow, GrantName } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { RadioGroup } from '../parts/checkbox.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { engine } from '../stores/engine-store.ts';
import { ALLOWED, AllowFields, optionsOf } from './allow-fields.tsx';
import { choicesOf } from './grants.ts';
import { asksBeyond } from './waiting-words.ts';

interface AllowSheetProps {
  readonly client: ClientRow;
  /** It waits for an answer; else it was decided on before. */
  readonly waits: boolean;
  /** What it would like beyond events: told, and nothing of it is chosen. */
  readonly wishes?: readonly GrantName[];
  readonly onClose: () => void;
}

/** How long, and what: nothing is allowed that is not shown here. */
export function AllowSheet({ client, waits, wishes = [], onClose }: AllowSheetProps) {
  const [length, setLength] = useState<'always' | 'once'>(client.persistable ? 'always' : 'once');
  // What was allowed before, or for a client that nothing was decided on, all that the owner's own switches and senders let through.
  const decided = client.decision === 'always' || client.decision === 'once';
  const [allowed, setAllowed] = useState({
    events: decided && client.events !== 'all' ? client.events : ALLOWED.events, senders: decided ? client.senders : ALLOWED.senders, grants: choicesOf(client.grants),
  });
  const { attempt, busy } = useBusyRun();
  // A token is one client for as long as it holds.
  const byProcess = client.by === undefined;

  async function allow() {
    const options = { once: byProcess && length === 'once', ...optionsOf(allowed) };
    const call = waits ? engine.clients.answer({ id: client.id, accept: true, options }) : engine.clients.allow({ id: client.id, options });
    if (await attempt(call)) onClose();
  }

  return (
    <Sheet
      title="Allow this client?" onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={busy || allowed.events.length === 0} onClick={() => void allow()}>Allow</Button>
        </>
      )}
    >
      <p><PersonName text={quotedName(client)} whole /></p>
      {client.label !== null && client.label.length > 64 && (
        <details>
          <summary>All of its name</summary>
          <p><PersonName text={client.label} whole /></p>
        </details>
      )}
      <p className="muted"><PersonName text={client.display} whole />{client.signed || !byProcess ? '' : ', not signed'}</p>
      {byProcess && (client.persistable
        ? <RadioGroup label="For how long" value={length} onChange={setLength} options={[{ value: 'always', label: 'Always' }, { value: 'once', label: 'Once, until it quits' }]} />
        : <p>It can't be told from other programs, so it can be allowed only once, until it quits.</p>)}
      {wishes.length > 0 && <p>It would also like to {asksBeyond(wishes)}. Choose below.</p>}
      <AllowFields value={allowed} onChange={setAllowed} />
    </Sheet>
  );
}
