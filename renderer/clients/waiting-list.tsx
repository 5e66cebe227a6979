import type { WaitingRow } from '../../app/contract/values.ts';
import { WaitingEntries } from './waiting-entries.tsx';

/** Clients that want events, changes that a program asks for, and texts that a client would like to send, as one list. Closing is no answer. */
export function WaitingList({ waiting }: { readonly waiting: readonly WaitingRow[] }) {
  return (
    <section aria-labelledby="waiting-for-you" className="clients-group">
      <h2 id="waiting-for-you">Waiting for you</h2>
      <WaitingEntries waiting={waiting} />
    </section>
  );
}
