import { lazy, Suspense, useEffect, useRef, type ComponentType } from 'react';
import type { Section } from '../../app/contract/shell.ts';
import { Banner } from '../parts/banner.tsx';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Select } from '../parts/select.tsx';
import { focusTitle } from '../parts/view.tsx';
import { doDeed, useGlance, type Look } from '../stores/use-glance.ts';
import { openSection, useView } from '../stores/view-store.ts';
import { EventsView } from '../events/events-view.tsx';
import { IconNotice } from './icon-notice.tsx';
import './window.css';

// The landing section comes with the window, the others when they are opened.
const VIEWS: Readonly<Record<Section, ComponentType>> = {
  events: EventsView,
  senders: lazy(async () => ({ default: (await import('../senders/senders-view.tsx')).SendersView })),
  live: lazy(async () => ({ default: (await import('../live/live-view.tsx')).LiveView })),
  clients: lazy(async () => ({ default: (await import('../clients/clients-view.tsx')).ClientsView })),
  activity: lazy(async () => ({ default: (await import('../activity/activity-view.tsx')).ActivityView })),
  diagnostics: lazy(async () => ({ default: (await import('../diagnostics/diagnostics-view.tsx')).DiagnosticsView })),
  settings: lazy(async () => ({ default: (await import('../settings/settings-view.tsx')).SettingsView })),
};

const TITLES: Readonly<Record<Section, string>> = {
  events: 'Events', senders: 'Senders', live: 'Live', clients: 'Clients', activity: 'Activity', diagnostics: 'Diagnostics', settings: 'Settings',
};
const MAIN: readonly Section[] = ['events', 'senders', 'live', 'clients', 'activity'];
const FOOTER: readonly Section[] = ['diagnostics', 'settings'];

const isSection = (name: string | null): name is Section => name !== null && Object.hasOwn(TITLES, name);

export function MainWindow({ screen }: { readonly screen: string | null }) {
  const section = useView((view) => view.section);
  const look = useGlance();
  const first = useRef(true);
  useEffect(() => {
    if (isSection(screen)) openSection(screen);
  }, [screen]);
  useEffect(() => {
    document.title = `${TITLES[section]} - Belfry`;
    // A section that was opened takes the focus, but not at the start: nothing takes focus uninvited.
    if (!first.current) requestAnimationFrame(focusTitle);
    first.current = false;
  }, [section]);
  if (look === null) return null;
  const View = VIEWS[section];
  const { health } = look.glance;
  // A button that leads to where one is would do nothing.
  const action = health.action?.deed.kind === 'open' && health.action.deed.section === section ? null : health.action;
  return (
    <div className="window">
      <nav className="window-nav" aria-label="Sections">
        <ul role="list" className="window-list">{MAIN.map((each) => <NavItem key={each} section={each} current={section} />)}</ul>
        <div className="window-foot">
          <HealthLine look={look} />
          <ul role="list" className="window-list">{FOOTER.map((each) => <NavItem key={each} section={each} current={section} />)}</ul>
        </div>
      </nav>
      <nav className="window-narrow" aria-label="Sections">
        <Select label="Section" hideLabel value={section} options={[...MAIN, ...FOOTER].map((value) => ({ value, label: TITLES[value] }))} onChange={openSection} />
        <HealthLine look={look} />
      </nav>
      <main className="window-main">
        {health.banner && (
          <div className="window-banner">
            <Banner
              icon={health.icon}
              actions={action && <Button look="main" onClick={() => doDeed(action.deed, true)}>{action.label}</Button>}
            >
              <span data-headline>{health.headline}</span>
            </Banner>
          </div>
        )}
        <IconNotice />
        <div className={`window-view${look.starting ? ' window-old' : ''}`} data-section={section}>
          <Suspense fallback={null}><View /></Suspense>
        </div>
      </main>
    </div>
  );
}

function NavItem({ section, current }: { readonly section: Section; readonly current: Section }) {
  return (
    <li>
      <button type="button" className="window-item" aria-current={section === current ? 'page' : undefined} onClick={() => openSection(section)}>{TITLES[section]}</button>
    </li>
  );
}

/** In two words what the headline says; the whole of it when one points at it. */
function HealthLine({ look }: { readonly look: Look }) {
  const { health } = look.glance;
  return (
    <p className="window-health" title={look.starting ? 'Starting...' : health.headline} data-health={health.id}>
      <Icon id={look.starting ? 'off' : health.icon} />
      <span>{look.starting ? 'Starting...' : SHORT[health.id]}</span>
    </p>
  );
}

const SHORT: Readonly<Record<Look['glance']['health']['id'], string>> = {
  checking: 'Checking...', wrongPlace: 'Temporary copy', otherCopy: 'Another copy', engineStopped: 'Stopped', tampered: 'Settings changed', accessLost: 'Access lost',
  accessMissing: 'No access yet', needsReopen: 'Needs reopening', sourceMissing: 'Not set up', clientAsking: 'Waits for you', paused: 'Paused', allOff: 'Off',
  noSenders: 'No senders', noListener: 'No listener', listening: 'OK',
};
