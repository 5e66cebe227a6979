import { useEffect, useState, type ReactNode } from 'react';
import { quotedName } from '../../app/contract/health.ts';
import type { WiringRow } from '../../app/contract/shell.ts';
import { eventType, type ClientRow, type EventType, type GrantName } from '../../app/contract/values.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { CodeBox } from '../parts/code-box.tsx';
import { cleanName } from '../parts/clean-name.ts';
import { PersonName } from '../parts/person-name.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { Subject } from '../parts/subject.tsx';
import { Time } from '../parts/time.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { focusTitle, View } from '../parts/view.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import { shell } from '../stores/shell-store.ts';
import { openAddSender } from '../stores/view-store.ts';
import { EventChoice } from './allow-fields.tsx';
import { AllowSheet } from './allow-sheet.tsx';
import { notAllowedOf, stateWords, subscriptionWords } from './client-words.ts';
import { ConnectSheet, SETTINGS_GONE } from './connect-sheet.tsx';
import { GrantsPart } from './grants-part.tsx';
import { RequestsPart } from './requests-part.tsx';
import { SenderChoice, type ChosenSenders } from './sender-choice.tsx';
import { TestHops, useClientTest } from './test-hops.tsx';
import { WebhooksPart } from './webhooks-part.tsx';
import { WatchesPart } from './watches-part.tsx';
import './client-detail.css';

interface ClientDetailProps {
  readonly client: ClientRow;
  /** The settings entry that it was probably started from. */
  readonly wiring: WiringRow | null;
  readonly onBack: () => void;
}

export function ClientDetail({ client, wiring, onBack }: ClientDetailProps) {
  const [sheet, setSheet] = useState<'allow' | 'senders' | 'remove' | null>(null);
  const close = () => setSheet(null);
  const test = useClientTest(client.id);
  useEffect(focusTitle, []);
  const { text, kind } = stateWords(client);
  const isAllowed = client.decision === 'always' || client.decision === 'once';
  const missing = notAllowedOf(client);

  /** What else was allowed stays as it is now, also where an undo comes after another change. */
  const allow = (changes: { readonly events?: 'all' | EventType[]; readonly senders?: 'all' | string[]; readonly grants?: GrantName[] }) => {
    const { decision, events, senders, grants } = useEngine.getState().slices?.clients.find(({ id }) => id === client.id) ?? client;
    return engine.clients.allow({
      id: client.id,
      options: { once: decision === 'once', events: events === 'all' ? 'all' : [...events], senders: senders === 'all' ? 'all' : [...senders], grants: [...grants], ...changes },
    });
  };

  return (
    <View
      title={quotedName(client)}
      tools={(
        <>
          <Button onClick={onBack}>All Clients</Button>
          <Button disabled={test.busy} title="Sends one event that is marked as a test" onClick={() => void test.start()}>{test.busy ? 'Testing...' : 'Test'}</Button>
          {isAllowed
            ? <Button onClick={() => void run(engine.clients.revoke({ id: client.id }))}>Disconnect</Button>
            : <Button look="main" onClick={() => setSheet('allow')}>Allow...</Button>}
        </>
      )}
    >
      <TestHops test={test} />
      <RequestsPart client={client} />
      <dl className="client-facts">
        <Fact name="Status">
          <Badge kind={kind} text={text} />
          <span className="muted"> Last event <Time at={client.lastEventAt} /></span>
        </Fact>
        <Fact name="Calls itself">{client.label === null ? 'nothing' : <PersonName text={client.label} whole />}</Fact>
        <Fact name="Program"><PersonName text={client.display} whole />{client.signed || client.by !== undefined ? '' : ', not signed'}</Fact>
        {wiring && (
          <Fact name="Settings">
            <code>{wiring.file}</code> &gt; <code>{wiring.place}</code>{' '}
            <Button dense onClick={() => void run(shell().wiring.show({ id: wiring.id }))}>Show</Button>
          </Fact>
        )}
        {wiring?.listenCommand && client.state !== 'listening' && <Fact name="To listen"><CodeBox text={wiring.listenCommand} name={`how to start ${wiring.title} so that it listens`} /></Fact>}
        {isAllowed && (
          <Fact name="Allowed">
            <span>{client.decision === 'once' ? 'Once, until it quits.' : 'Always.'}</span>
            <EventChoice
              value={client.events === 'all' ? eventType.options : client.events}
              onChange={(events) => void run(allow({ events: events.length === eventType.options.length ? 'all' : [...events] }))}
            />
            <div>
              Senders: {client.senders === 'all' ? 'all that are allowed' : `${client.senders.length} chosen`}{' '}
              <Button dense onClick={() => setSheet('senders')}>Change...</Button>
            </div>
          </Fact>
        )}
        <Fact name="Subscriptions">
          {client.subscriptions.length === 0 ? 'None' : (
            // Subscriptions have no id; their order is the engine's.
            <ul role="list">{client.subscriptions.map((each, index) => <li key={index}>{subscriptionWords(each)}</li>)}</ul>
          )}
        </Fact>
        {missing.length > 0 && (
          <Fact name="Also asks for">
            <PersonName text={missing.join(', ')} whole />, not allowed.{' '}
            <Button dense onClick={() => openAddSender(missing.join('\n'))}>Allow...</Button>
          </Fact>
        )}
      </dl>
      {isAllowed && <GrantsPart client={client} save={(grants) => allow({ grants })} />}
      <WatchesPart client={client.id} />
      <WebhooksPart client={client.id} />
      {wiring && wiring.state === 'set-up' && (
        <p className="client-remove">
          <Button onClick={() => setSheet('remove')}>Remove from {cleanName(wiring.title)}...</Button>
          {wiring.backup !== null && <span className="muted">Backup: <code>{wiring.backup}</code></span>}
        </p>
      )}
      {isAllowed && <p className="hint">After Disconnect it gets no events until you allow it again.</p>}
      {sheet === 'allow' && <AllowSheet client={client} waits={client.state === 'asking'} onClose={close} />}
      {sheet === 'senders' && <SendersSheet value={client.senders} onClose={close} onSave={(senders) => allow({ senders: senders === 'all' ? 'all' : [...senders] })} />}
      {sheet === 'remove' && wiring && (
        <Subject gone={SETTINGS_GONE} onClose={close}>{(leave) => <ConnectSheet id={wiring.id} change="remove" onClose={leave} />}</Subject>
      )}
    </View>
  );
}

function Fact({ name, children }: { readonly name: string; readonly children: ReactNode }) {
  return (
    <div className="client-fact">
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

interface SendersSheetProps {
  readonly value: ChosenSenders;
  readonly onSave: (value: ChosenSenders) => ReturnType<typeof engine.clients.allow>;
  readonly onClose: () => void;
}

function SendersSheet({ value, onSave, onClose }: SendersSheetProps) {
  const [chosen, setChosen] = useState(value);
  const { attempt, busy } = useBusyRun();
  return (
    <Sheet
      title="Senders for this client" onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button
            look="main" disabled={busy}
            onClick={() => void attempt(onSave(chosen)).then((done) => done && onClose())}
          >
            Save
          </Button>
        </>
      )}
    >
      <SenderChoice value={chosen} onChange={setChosen} />
    </Sheet>
  );
}
