import { useId } from 'react';
import { EVENT_TITLES, many } from '../../app/contract/glance.ts';
import type { EventRow, Slices } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { cutName } from '../parts/clean-name.ts';
import { PersonName } from '../parts/person-name.tsx';
import { Switch } from '../parts/switch.tsx';
import { whenWords } from '../../app/contract/time-words.ts';
import { useNow } from '../stores/clock.ts';
import { engine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import { openAddSender, openSection } from '../stores/view-store.ts';
import { cannotTurnOn, eventNotes } from './event-notes.ts';
import { fieldWords, type EventEntry } from './payload-fields.ts';

interface EventCardProps {
  readonly event: EventRow;
  readonly slices: Slices;
  readonly starting: boolean;
  /** Null until the catalogue is known. */
  readonly entry: EventEntry | null;
  readonly onExample: (entry: EventEntry) => void;
  readonly onMailboxes: () => void;
}

export function EventCard({ event, slices, starting, entry, onExample, onMailboxes }: EventCardProps) {
  const now = useNow();
  const notesId = useId();
  const title = EVENT_TITLES[event.type];
  const notes = eventNotes(event, slices.access, starting, (at) => whenWords(at, now));
  return (
    <section className="events-card" aria-label={title}>
      <div className="events-head">
        <h2 className="events-title">{title} <code className="events-type">{event.type}</code></h2>
        <Switch label={title} on={event.on} disabled={cannotTurnOn(event, slices.access)} describedBy={notesId} onChange={(on) => void setEvent(event.type, on, slices)} />
      </div>
      <p id={notesId} className={notes.some(({ warns }) => warns) ? 'events-warning' : 'muted'}>{notes.map(({ text }) => text).join(' - ')}</p>
      {event.on && (
        <>
          {event.type === 'mail.received' && (
            <p className="events-line">
              <span>Mailboxes: <MailboxNames names={event.mailboxes} /></span>
              <Button look="plain" dense aria-label="Change mailboxes" onClick={onMailboxes}>Change</Button>
            </p>
          )}
          <p className="events-line">
            <span>Allowed: {many(event.allowed, 'sender')}{event.type === 'messages.received' && slices.chats.length > 0 && `, ${many(slices.chats.length, 'chat')}`}</span>
            <Button look="plain" dense aria-label={`Edit senders for ${title}`} onClick={() => openSection('senders')}>Edit</Button>
          </p>
          <p className="events-line"><span>Used by: {event.usedBy.length === 0 ? 'no client' : <Names names={event.usedBy} />}</span></p>
        </>
      )}
      {entry && (
        <p className="events-line">
          <span>What is sent: {fieldWords(entry.payloadSchema).join(', ')}.{event.type === 'mail.received' && !slices.settings.subjects && ' The subject is always empty, since subject lines are off.'}</span>
          <Button look="plain" dense aria-label={`See an example of ${title}`} onClick={() => onExample(entry)}>See an example</Button>
        </p>
      )}
    </section>
  );
}

/** As everywhere where a name stands in a sentence. */
const MAX_NAME = 64;

function Names({ names }: { readonly names: readonly string[] }) {
  return names.map((name, index) => (
    // Two clients may have one name.
    <span key={index}>{index > 0 && ', '}<PersonName whole text={cutName(name, MAX_NAME)} /></span>
  ));
}

const SHOWN_MAILBOXES = 3;

function MailboxNames({ names }: { readonly names: readonly string[] | null }) {
  if (names === null) return 'all that mail arrives in';
  const more = names.length - SHOWN_MAILBOXES;
  return <><Names names={names.slice(0, SHOWN_MAILBOXES)} />{more > 0 && ` and ${more} more`}</>;
}

async function setEvent(type: EventRow['type'], on: boolean, { senders, chats }: Slices): Promise<void> {
  const outcome = await run(engine.events.set({ type, on }));
  // An event without a sender tells nothing: the next thing to do is at hand.
  if (outcome !== null && on && chats.length === 0 && !senders.some((rule) => rule.on)) openAddSender();
}
