import { useRef, useState } from 'react';
import { Button } from '../parts/button.tsx';
import { addressLabel } from '../parts/clean-name.ts';
import { Field } from '../parts/field.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { engine } from '../stores/engine-store.ts';
import { offerUndo, run } from '../stores/notice-store.ts';
import { SettingsGroup, SettingsRow } from './settings-group.tsx';
import './webhooks-group.css';

/** Where events may be sent to over the network: only hosts that are listed here. */
export function WebhooksGroup({ hosts }: { readonly hosts: readonly string[] }) {
  const [text, setText] = useState('');
  const field = useRef<HTMLInputElement>(null);
  const { attempt, busy } = useBusyRun();
  const host = text.trim();

  async function add() {
    if (host !== '' && await attempt(engine.hosts.add({ hosts: [host] }))) setText('');
    field.current?.focus();
  }

  async function remove(gone: string) {
    if (!await run(engine.hosts.remove({ hosts: [gone] }))) return;
    offerUndo(`${gone} is no longer allowed.`, () => void run(engine.hosts.add({ hosts: [gone] })));
    field.current?.focus();
  }

  return (
    <SettingsGroup title="Webhooks">
      <SettingsRow label="Allowed hosts" hint={hosts.length === 0 ? 'None, so webhooks are off. Events leave this computer only to hosts that you list.' : 'Clients with a token may have events sent to these hosts, over https.'} />
      {hosts.map((each) => (
        <SettingsRow key={each} label={<PersonName text={each} />}><Button aria-label={`Remove: ${addressLabel(each)}`} onClick={() => void remove(each)}>Remove</Button></SettingsRow>
      ))}
      <div className="settings-row webhooks-add">
        <Field
          ref={field} label="Add a host" placeholder="hooks.example.com" value={text} maxLength={512} onChange={(event) => setText(event.target.value)}
          onKeyDown={(event) => event.key === 'Enter' && void add()}
        />
        <Button disabled={busy || host === ''} onClick={() => void add()}>Add</Button>
      </div>
    </SettingsGroup>
  );
}
