import { useEffect, useState } from 'react';
import { withEngine } from '../stores/engine-store.ts';
import { entriesOf, type EventEntry } from './payload-fields.ts';

/** The event types as the engine has them; empty until it has answered. */
export function useCatalogue(): readonly EventEntry[] {
  const [entries, setEntries] = useState<readonly EventEntry[]>([]);
  useEffect(() => withEngine((client) => {
    client.call.events.catalogue({}).then((catalogue) => setEntries(entriesOf(catalogue)), () => undefined);
  }), []);
  return entries;
}
