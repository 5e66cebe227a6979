import { lazy, Suspense, useEffect, useState } from 'react';
import { many } from '../../app/contract/glance.ts';
import type { WiringRow } from '../../app/contract/shell.ts';
import type { ClientRow, WaitingRow } from '../../app/contract/values.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { copyText } from '../stores/own-machine.ts';
import { EmptyState } from '../parts/empty-state.tsx';
import { Icon } from '../parts/icon.tsx';
import { Menu } from '../parts/menu.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Subject } from '../parts/subject.tsx';
import { Time } from '../parts/time.tsx';
import { useListFocus } from '../parts/use-list-focus.ts';
import { View } from '../parts/view.tsx';
import { useEngine } from '../stores/engine-store.ts';
import { useShell } from '../stores/shell-store.ts';
import { ClientDetail } from './client-detail.tsx';
import { ClientName } from './client-name.tsx';
import { asksWords, clientGroups, deliveredTo, stateWords, wiringOf } from './client-words.ts';
import { refreshWiring } from './refresh-wiring.ts';
import { unreadOf } from './watch-words.ts';
import { WaitingList } from './waiting-list.tsx';
import { WiringList } from './wiring-list.tsx';
import './clients-view.css';

const NO_CLIENTS: readonly ClientRow[] = [];
const NO_WAITING: readonly WaitingRow[] = [];
const NO_WIRING: readonly WiringRow[] = [];

export function ClientsView() {
  const clients = useEngine(({ slices }) => slices?.clients) ?? NO_CLIENTS;
  const waiting = useEngine(({ slices }) => slices?.waiting) ?? NO_WAITING;
  const wiring = useShell(({ state }) => state?.wiring) ?? NO_WIRING;
  const [opened, setOpened] = useState<string | null>(null);
  const [left, setLeft] = useState<string | null>(null);
  // Settings files are read on every view.
  useEffect(refreshWiring, []);

  const open = clients.find(({ id }) => id === opened);
  if (open) {
    return (
      <Subject
        gone="The client is no longer in the list."
        onClose={() => {
          setLeft(opened);
          setOpened(null);
        }}
      >
        {(close) => <ClientDetail client={open} wiring={wiringOf(open, wiring)} onBack={close} />}
      </Subject>
    );
  }
  const { connected, away } = clientGroups(clients);
  const running = new Set(connected.flatMap((client) => wiringOf(client, wiring)?.id ?? []));
  return (
    <View title="Clients" tools={<ClientTools wiring={wiring} />}>
      {waiting.length > 0 && <WaitingList waiting={waiting} />}
      <section aria-labelledby="clients-connected" className="clients-group">
        <h2 id="clients-connected">Connected</h2>
        {connected.length === 0
          ? <EmptyState>No client is connected. Connect one below, then start it.</EmptyState>
          : <ClientList label="Connected clients" clients={connected} onOpen={setOpened} returnTo={left} />}
      </section>
      {away.length > 0 && (
        <section aria-labelledby="clients-away" className="clients-group">
          <h2 id="clients-away">Not running</h2>
          <ClientList label="Clients that are not running" clients={away} onOpen={setOpened} returnTo={left} />
        </section>
      )}
      <WiringList wiring={wiring} running={running} />
    </View>
  );
}

const SkillSheet = lazy(async () => ({ default: (await import('./skill-sheet.tsx')).SkillSheet }));

function ClientTools({ wiring }: { readonly wiring: readonly WiringRow[] }) {
  const [skill, setSkill] = useState(false);
  return (
    <>
      <Button onClick={() => setSkill(true)}>Text for Agents...</Button>
      {wiring.length > 0 && <CopySettings wiring={wiring} />}
      {skill && <Suspense fallback={null}><SkillSheet onClose={() => setSkill(false)} /></Suspense>}
    </>
  );
}

function CopySettings({ wiring }: { readonly wiring: readonly WiringRow[] }) {
  return <Menu label="Copy settings" items={wiring.map(({ title, snippet }) => ({ label: title, onChoose: () => void copyText(snippet) }))} />;
}

interface ClientListProps {
  readonly label: string;
  readonly clients: readonly ClientRow[];
  readonly onOpen: (id: string) => void;
  /** The client whose page was left: it takes the focus back. */
  readonly returnTo: string | null;
}

function ClientList({ label, clients, onOpen, returnTo }: ClientListProps) {
  const list = useListFocus({ keys: clients.map(({ id }) => id), onOpen });
  const { moveTo } = list;
  const index = clients.findIndex(({ id }) => id === returnTo);
  useEffect(() => {
    if (index >= 0) moveTo(returnTo!, index);
    // Only when the list appears.
    // oxlint-disable-next-line react/exhaustive-deps
  }, []);
  return (
    <ul role="list" aria-label={label} className="clients-list" {...list.listProps}>
      {clients.map((client) => (
        <li key={client.id}>
          <button type="button" className="client" onClick={() => onOpen(client.id)} {...list.itemProps(client.id)}>
            <ClientLine client={client} />
            <Icon id="chevron-right" size={12} />
          </button>
        </li>
      ))}
    </ul>
  );
}

function ClientLine({ client }: { readonly client: ClientRow }) {
  const { text, kind } = stateWords(client);
  const asks = asksWords(client);
  const unread = useEngine(({ slices }) => unreadOf(client.id, slices?.watches ?? []));
  const counts = [...(client.subscriptions.length > 0 ? [`${deliveredTo(client)} delivered`] : []), ...(unread > 0 ? [`${unread} unread`] : [])].join(' - ');
  return (
    <span className="client-lines">
      <span className="client-first">
        <span className="client-name"><ClientName client={client} /></span>
        <Badge kind={kind} text={text} />
        {client.connectedAt !== null && <span className="muted">since <Time at={client.connectedAt} /></span>}
        {client.connections > 1 && <span className="muted">{many(client.connections, 'window')}</span>}
      </span>
      <span className="client-second muted">
        {asks === null ? <PersonName text={client.display} /> : <PersonName text={asks} />}
        {counts !== '' && <span className="client-count">{counts}</span>}
      </span>
    </span>
  );
}
