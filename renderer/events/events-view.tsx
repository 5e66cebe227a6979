import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { Time } from '../parts/time.tsx';
import { View } from '../parts/view.tsx';
import { useEngine } from '../stores/engine-store.ts';
import { doDeed, useGlance, type Look } from '../stores/use-glance.ts';
import { EventCard } from './event-card.tsx';
import { ExampleSheet } from './example-sheet.tsx';
import { MailboxesSheet } from './mailboxes-sheet.tsx';
import type { EventEntry } from './payload-fields.ts';
import { PauseMenu } from './pause-menu.tsx';
import { useCatalogue } from './use-catalogue.ts';
import './events-view.css';

/** The landing page: what may be told, and how it stands with its source. */
export function EventsView() {
  const look = useGlance();
  const slices = useEngine((store) => store.slices);
  const catalogue = useCatalogue();
  const [example, setExample] = useState<EventEntry | null>(null);
  const [choosing, setChoosing] = useState(false);
  if (look === null) return null;
  const { glance } = look;
  return (
    <View title="Events" tools={slices && <PauseMenu pause={glance.pause} />}>
      {!glance.health.banner && <StatusCard look={look} />}
      {slices?.events.map((event) => (
        <EventCard
          key={event.type} event={event} slices={slices} starting={look.starting} entry={catalogue.find(({ name }) => name === event.type) ?? null}
          onExample={setExample} onMailboxes={() => setChoosing(true)}
        />
      ))}
      {example && <ExampleSheet entry={example} onClose={() => setExample(null)} />}
      {choosing && <MailboxesSheet chosen={slices?.events.find(({ type }) => type === 'mail.received')?.mailboxes ?? null} onClose={() => setChoosing(false)} />}
    </View>
  );
}

function StatusCard({ look }: { readonly look: Look }) {
  const { health, lastAt } = look.glance;
  const { action } = health;
  // What is chosen is chosen right here, and Resume stands in the head.
  const elsewhere = action !== null && action.deed.kind === 'open' && action.deed.section !== 'events';
  return (
    <div className="events-card events-status">
      <Icon id={look.starting ? 'off' : health.icon} />
      <p className="events-headline" data-headline>{look.starting ? 'Starting...' : health.headline}</p>
      {lastAt !== null && <p className="muted">Last event <Time at={lastAt} /></p>}
      {elsewhere && <Button onClick={() => doDeed(action.deed, true)}>{action.label}</Button>}
    </div>
  );
}
