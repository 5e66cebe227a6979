import { EVENT_TITLES } from '../../app/contract/glance.ts';
import { eventType, type EventType, type GrantName } from '../../app/contract/values.ts';
import { Checkbox } from '../parts/checkbox.tsx';
import { GrantFields } from './grant-fields.tsx';
import { namesOf, NO_GRANTS, type ClientGrants } from './grants.ts';
import { SenderChoice, type ChosenSenders } from './sender-choice.tsx';

/** What is chosen before something is let in. */
export interface Allowed {
  readonly events: readonly EventType[];
  readonly senders: ChosenSenders;
  readonly grants: ClientGrants;
}

/** All that the owner's own switches and senders let through, and nothing beyond events. */
export const ALLOWED: Allowed = { events: eventType.options, senders: 'all', grants: NO_GRANTS };

export const optionsOf = ({ events, senders, grants }: Allowed): { events: 'all' | EventType[]; senders: 'all' | string[]; grants: GrantName[] } => ({
  events: events.length === eventType.options.length ? 'all' : [...events],
  senders: senders === 'all' ? 'all' : [...senders],
  grants: namesOf(grants),
});

/** Which events, which senders, and what beyond: nothing is allowed that is not shown here. */
export function AllowFields({ value, onChange }: { readonly value: Allowed; readonly onChange: (value: Allowed) => void }) {
  return (
    <>
      <EventChoice value={value.events} onChange={(events) => onChange({ ...value, events })} />
      <SenderChoice value={value.senders} onChange={(senders) => onChange({ ...value, senders })} />
      <section aria-labelledby="allow-grants" className="clients-group">
        <h3 id="allow-grants">Reading and writing</h3>
        <GrantFields value={value.grants} onChange={(grants) => onChange({ ...value, grants })} />
      </section>
    </>
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
