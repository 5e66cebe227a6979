import { useState } from 'react';
import { EVENT_TITLES, many } from '../../app/contract/glance.ts';
import type { EventRow, EventType } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox, RadioGroup } from '../parts/checkbox.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { hasDomain } from '../senders/paste.ts';
import { SendersField, useTyped } from '../senders/senders-field.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { watchArguments } from './watch-words.ts';

const NO_EVENTS: readonly EventRow[] = [];
const NO_RULES: readonly never[] = [];

/** A watch that the owner makes for a client. It lets nobody in: what is not allowed is held back from it too. */
export function WatchSheet({ client, onClose }: { readonly client: string; readonly onClose: () => void }) {
  const events = (useEngine(({ slices }) => slices?.events) ?? NO_EVENTS).filter(({ on }) => on);
  const [type, setType] = useState<EventType>(events[0]?.type ?? 'mail.received');
  const [subdomains, setSubdomains] = useState(false);
  const typed = useTyped({ rules: NO_RULES, for: type === 'mail.received' ? 'mail' : 'messages' });
  const { attempt, busy } = useBusyRun();
  const { senders } = typed.paste;

  async function add() {
    const done = await attempt((async () => {
      const read = await typed.readNow();
      return engine.watches.add({ client, type, arguments: watchArguments(read.senders, subdomains) });
    })());
    if (done) onClose();
  }

  return (
    <Sheet
      title="New watch" wide onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={busy || events.length === 0 || senders.length === 0} onClick={() => void add()}>
            {senders.length === 0 ? 'Watch' : `Watch ${many(senders.length, 'sender')}`}
          </Button>
        </>
      )}
    >
      {events.length === 0
        ? <p>Every event is off. Turn one on in Events first.</p>
        : (
          <>
            <RadioGroup label="Event" value={type} onChange={setType} options={events.map((event) => ({ value: event.type, label: EVENT_TITLES[event.type] }))} />
            <SendersField typed={typed} rules={NO_RULES} />
            {hasDomain(senders) && (
              <Checkbox label="Include subdomains" checked={subdomains} onChange={setSubdomains} hint="Also everyone at lists.example.org when example.org is watched." />
            )}
            <p className="hint">A watch lets nobody in: a sender has to be in the list of allowed senders too. Events are kept until the client has read them.</p>
          </>
        )}
    </Sheet>
  );
}
