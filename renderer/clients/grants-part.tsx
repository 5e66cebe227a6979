import { useState } from 'react';
import { quotedName } from '../../app/contract/health.ts';
import type { ClientRow, ContractOutcome, GrantName } from '../../app/contract/values.ts';
import { ConfirmSheet } from '../parts/confirm-sheet.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { useEngine } from '../stores/engine-store.ts';
import { offerUndo, run, showProblem } from '../stores/notice-store.ts';
import { GrantFields } from './grant-fields.tsx';
import { changedWords, choicesOf, namesOf, optionOf, takenBack, widenedBy, type ClientGrants } from './grants.ts';

interface GrantsPartProps {
  readonly client: ClientRow;
  /** What else the client was allowed stays as it is. */
  readonly save: (grants: GrantName[]) => Promise<ContractOutcome>;
}

/** What a client may do beyond hearing of arrivals. Less at once, more only after it was said what that means; both can be undone. */
export function GrantsPart({ client, save }: GrantsPartProps) {
  const now = choicesOf(client.grants);
  const name = quotedName(client);
  const [wanted, setWanted] = useState<ClientGrants | null>(null);
  const { attempt, busy } = useBusyRun();

  async function change(next: ClientGrants): Promise<boolean> {
    if (!await attempt(save(namesOf(next)))) return false;
    offerUndo(changedWords(name, now, next), () => {
      const current = useEngine.getState().slices?.clients.find(({ id }) => id === client.id) ?? client;
      // To put grants back would allow it again.
      if (current.decision !== 'always' && current.decision !== 'once') return showProblem(`${name} is not allowed any more, so nothing was changed.`);
      void run(save(namesOf(takenBack(choicesOf(current.grants), now, next))));
    });
    return true;
  }

  return (
    <section aria-labelledby="client-grants" className="clients-group">
      <h2 id="client-grants">Reading and writing</h2>
      <GrantFields value={now} disabled={busy} onChange={(next) => (widenedBy(now, next).length > 0 ? setWanted(next) : void change(next))} />
      <p className="hint">What it has read it may pass on. Taking a permission back doesn't take back what was read.</p>
      {wanted && (
        <ConfirmSheet
          title="Let this client do more?" confirm="Allow" look="main" onClose={() => setWanted(null)}
          onConfirm={async () => (await change(wanted) ? true : null)}
        >
          <p><PersonName text={name} whole /></p>
          {widenedBy(now, wanted).map((key) => <p key={key}>{optionOf(wanted, key).confirm}</p>)}
          <p>What it has read it may pass on.</p>
        </ConfirmSheet>
      )}
    </section>
  );
}
