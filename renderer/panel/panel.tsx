import { useEffect, useRef } from 'react';
import type { Glance, GlanceClient, GlanceEvent } from '../../app/contract/glance.ts';
import type { Section } from '../../app/contract/shell.ts';
import { PauseMenu } from '../events/pause-menu.tsx';
import { Banner } from '../parts/banner.tsx';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Switch } from '../parts/switch.tsx';
import { Time } from '../parts/time.tsx';
import { engine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import { shell, useInApp } from '../stores/shell-store.ts';
import { doDeed, useGlance } from '../stores/use-glance.ts';
import './panel.css';

const open = (section: Section) => void run(shell().shell.open({ section }));

/** The glance: what `glanceOf` has and nothing else, so that panel and native menu can't differ (ui.md, section 3). */
export function Panel() {
  const look = useGlance();
  const inApp = useInApp();
  const root = useRef<HTMLElement>(null);
  const ready = look !== null;
  useEffect(() => {
    if (!ready) return undefined;
    // Also the bar of notices below the panel counts.
    const content = root.current!.closest('.app')!;
    const watch = new ResizeObserver(() => void shell().shell.resizePanel({ height: Math.max(1, Math.ceil(content.getBoundingClientRect().height)) }).catch(() => undefined));
    watch.observe(content);
    return () => watch.disconnect();
  }, [ready]);
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape' && !event.defaultPrevented) void run(shell().shell.act({ action: 'close-panel' }));
    };
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, []);
  if (look === null) return null;
  const { glance, starting } = look;
  return (
    <main ref={root} className={`panel${starting ? ' panel-old' : ''}`}>
      <div className="panel-head">
        <h1 tabIndex={-1}>Belfry</h1>
        {glance.events.length > 0 && <PauseMenu pause={glance.pause} />}
      </div>
      <Health glance={glance} starting={starting} />
      {glance.events.length > 0 && <ul role="list" className="panel-part" aria-label="Events">{glance.events.map((event) => <EventItem key={event.type} event={event} />)}</ul>}
      {glance.clients.length > 0 && (
        <ul role="list" className="panel-part panel-clients" aria-label="Clients">
          {glance.clients.map((client) => <ClientItem key={client.id} client={client} />)}
          {glance.moreClients > 0 && <li><Button look="plain" dense onClick={() => open('clients')}>{glance.moreClients} more...</Button></li>}
        </ul>
      )}
      <div className="panel-foot">
        {glance.lastAt !== null && <p className="muted">Last event <Time at={glance.lastAt} /></p>}
        <div className="panel-buttons">
          <Button onClick={() => open('events')}>Open Belfry</Button>
          <Button onClick={() => open('settings')}>Settings</Button>
          {inApp && <Button onClick={() => void run(shell().shell.act({ action: 'quit' }))}>Quit</Button>}
        </div>
      </div>
    </main>
  );
}

const ACCESS_STATES: readonly string[] = ['accessLost', 'accessMissing'];

function Health({ glance, starting }: { readonly glance: Glance; readonly starting: boolean }) {
  const { health } = glance;
  const { action } = health;
  if (!health.banner) {
    return (
      <div className="panel-health">
        <Icon id={starting ? 'off' : health.icon} />
        <p className="panel-headline" data-headline>{starting ? 'Starting...' : health.headline}</p>
        {/* Resume stands in the head already. */}
        {action && action.deed.kind !== 'resume' && <Button dense onClick={() => doDeed(action.deed, false)}>{action.label}</Button>}
      </div>
    );
  }
  return (
    <Banner
      icon={health.icon}
      actions={(
        <>
          {action && <Button look="main" onClick={() => doDeed(action.deed, false)}>{action.label}</Button>}
          {ACCESS_STATES.includes(health.id) && <Button look="plain" onClick={() => open('diagnostics')}>Why?</Button>}
        </>
      )}
    >
      <span data-headline>{health.headline}</span>
    </Banner>
  );
}

function EventItem({ event }: { readonly event: GlanceEvent }) {
  const line = `panel-${event.type}`;
  return (
    <li className="panel-row">
      <div className="panel-words">
        <p className="panel-name">{event.title}</p>
        <p id={line} className="hint">{event.line}</p>
      </div>
      <Switch label={event.title} on={event.on} describedBy={line} onChange={(on) => void run(engine.events.set({ type: event.type, on }))} />
    </li>
  );
}

function ClientItem({ client }: { readonly client: GlanceClient }) {
  return (
    <li className="panel-row">
      <span className="panel-client"><PersonName text={client.name} /></span>
      <span className="muted">{client.state}</span>
      {client.asks && <Button dense aria-label={`Review ${client.name}`} onClick={() => open('clients')}>Review</Button>}
    </li>
  );
}
