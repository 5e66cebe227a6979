import { lazy, Suspense, useEffect, useState, type ComponentType } from 'react';
import type { Health } from '../../app/contract/health.ts';
import type { Section } from '../../app/contract/shell.ts';
import { Banner } from '../parts/banner.tsx';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Select } from '../parts/select.tsx';
import { focusTitle, View } from '../parts/view.tsx';
import { doDeed, useGlance } from '../stores/use-glance.ts';
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

/** The frame stands before the shell has answered. */
const CHECKING = { id: 'checking', icon: 'off', headline: 'Checking...', action: null, banner: false } as const satisfies Health;

export function MainWindow() {
  const section = useView((view) => view.section);
  const look = useGlance();
  // Nothing takes focus uninvited: the section of the start does not.
  const [start] = useState(section);
  const [moved, setMoved] = useState(false);
  if (section !== start && !moved) setMoved(true);
  useEffect(() => {
    document.title = `${TITLES[section]} - Belfry`;
  }, [section]);
  const SectionView = VIEWS[section];
  const starting = look?.starting ?? false;
  const health = look?.glance.health ?? CHECKING;
  // A button that leads to where one is would do nothing.
  const action = health.action?.deed.kind === 'open' && health.action.deed.section === section ? null : health.action;
  const healthLine = <HealthLine health={health} starting={starting} />;
  return (
    <div className="window">
      <nav className="window-nav" aria-label="Sections">
        <ul role="list" className="window-list">{MAIN.map((each) => <NavItem key={each} section={each} current={section} />)}</ul>
        <div className="window-foot">
          {healthLine}
          <ul role="list" className="window-list">{FOOTER.map((each) => <NavItem key={each} section={each} current={section} />)}</ul>
        </div>
      </nav>
      <nav className="window-narrow" aria-label="Sections">
        <Select label="Section" hideLabel value={section} options={[...MAIN, ...FOOTER].map((value) => ({ value, label: TITLES[value] }))} onChange={openSection} />
        {healthLine}
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
        <div className={`window-view${starting ? ' window-old' : ''}`} data-section={section}>
          {look === null ? <View title={TITLES[section]}>{null}</View> : <Suspense fallback={null}><SectionView />{moved && <TakesFocus key={section} />}</Suspense>}
        </div>
      </main>
    </div>
  );
}

/** Beside a section: its title takes the focus once it is drawn, which the first time is when its code has come. */
function TakesFocus() {
  useEffect(focusTitle, []);
  return null;
}

function NavItem({ section, current }: { readonly section: Section; readonly current: Section }) {
  return (
    <li>
      <button type="button" className="window-item" aria-current={section === current ? 'page' : undefined} onClick={() => openSection(section)}>{TITLES[section]}</button>
    </li>
  );
}

/** In two words what the headline says; the whole of it when one points at it. */
function HealthLine({ health, starting }: { readonly health: Health; readonly starting: boolean }) {
  return (
    <p className="window-health" title={starting ? 'Starting...' : health.headline} data-health={health.id}>
      <Icon id={starting ? 'off' : health.icon} />
      <span>{starting ? 'Starting...' : SHORT[health.id]}</span>
    </p>
  );
}

const SHORT: Readonly<Record<Health['id'], string>> = {
  checking: 'Checking...', wrongPlace: 'Temporary copy', otherCopy: 'Another copy', engineStopped: 'Stopped', tampered: 'Settings changed', accessLost: 'Access lost',
  accessMissing: 'No access yet', needsReopen: 'Needs reopening', sourceMissing: 'Not set up', clientAsking: 'Waits for you', paused: 'Paused', allOff: 'Everything is off',
  noSenders: 'No sender allowed', noListener: 'No client listening', listening: 'OK',
};
