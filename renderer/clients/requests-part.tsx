import type { ClientRow, WaitingRow } from '../../app/contract/values.ts';
import { useEngine } from '../stores/engine-store.ts';
import { WaitingEntries } from './waiting-entries.tsx';

const NO_WAITING: readonly WaitingRow[] = [];

/** What one client asks for, on its own page too. */
export function RequestsPart({ client }: { readonly client: ClientRow }) {
  const waiting = (useEngine(({ slices }) => slices?.waiting) ?? NO_WAITING).filter((entry) => entry.client === client.id);
  return waiting.length === 0 ? null : (
    <section aria-labelledby="client-requests" className="clients-group">
      <h2 id="client-requests">Asks for</h2>
      <WaitingEntries waiting={waiting} />
    </section>
  );
}
