import { useState } from 'react';
import { quotedName } from '../../app/contract/health.ts';
import { EVENT_TITLES } from '../../app/contract/glance.ts';
import { eventType, type ClientRow, type EventType } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox, RadioGroup } from '../parts/checkbox.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { engine } from '../stores/engine-store.ts';
import { GrantFields } from './grant-fields.tsx';
import { choicesOf, namesOf } from './grants.ts';
import { SenderChoice, type ChosenSenders } from './sender-choice.tsx';

interface AllowSheetProps {
  readonly client: ClientRow;
  /** It waits for an answer; else it was decided on before. */
  readonly waits: boolean;
  readonly onClose: () => void;
}

/** How long, which events, which senders: nothing is allowed that is not shown here. */
export function AllowSheet({ client, waits, onClose }: AllowSheetProps) {
  const [length, setLength] = useState<'always' | 'once'>(client.persistable ? 'always' : 'once');
  // What was allowed before, or for a client that nothing was decided on, all that the owner's own switches and senders let through.
  const decided = client.decision === 'always' || client.decision === 'once';
  const [events, setEvents] = useState<readonly EventType[]>(decided && client.events !== 'all' ? client.events : eventType.options);
  const [senders, setSenders] = useState<ChosenSenders>(decided ? client.senders : 'all');
  const [grants, setGrants] = useState(choicesOf(client.grants));
  const { attempt, busy } = useBusyRun();

  async function allow() {
    const options = {
      once: length === 'once',
      events: events.length === eventType.options.length ? 'all' as const : [...events],
      senders: senders === 'all' ? 'all' as const : [...senders],
      grants: namesOf(grants),
    };
    const call = waits ? engine.clients.answer({ id: client.id, accept: true, options }) : engine.clients.allow({ id: client.id, options });
    if (await attempt(call)) onClose();
  }

  return (
    <Sheet
      title="Allow this client?" onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={busy || events.length === 0} onClick={() => void allow()}>Allow</Button>
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
      <p className="muted"><PersonName text={client.display} whole />{client.signed ? '' : ', not signed'}</p>
      {client.persistable
        ? <RadioGroup label="For how long" value={length} onChange={setLength} options={[{ value: 'always', label: 'Always' }, { value: 'once', label: 'Once, until it quits' }]} />
        : <p>It can't be told from other programs, so it can be allowed only once, until it quits.</p>}
      <EventChoice value={events} onChange={setEvents} />
      <SenderChoice value={senders} onChange={setSenders} />
      <section aria-labelledby="allow-grants" className="clients-group">
        <h3 id="allow-grants">Reading and writing</h3>
        <GrantFields value={grants} onChange={setGrants} />
      </section>
    </Sheet>
  );
}

export function EventChoice({ value, onChange }: { readonly value: readonly EventType[]; readonly onChange: (value: readonly EventType[]) => void }) {
  return (
    <fieldset className="radio-group">
      <legend className="radio-legend">May receive</legend>
      {eventType.options.map((type) => (
        <Checkbox
          key={type} label={EVENT_TITLES[type]} checked={value.includes(type)}
          onChange={(on) => onChange(eventType.options.filter((each) => (each === type ? on : value.includes(each))))}
        />
      ))}
    </fieldset>
  );
}
