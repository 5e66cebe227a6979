import { useState } from 'react';
import { Button } from '../parts/button.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { engine } from '../stores/engine-store.ts';
import { ALLOWED, AllowFields, optionsOf } from './allow-fields.tsx';
import { asksBeyond, signInName, type SignIn } from './waiting-words.ts';

/** Lets a program in that asked in the browser. What it hinted at is told, and nothing of it is chosen. Whoever opens it closes it once the request is another. */
export function SignInSheet({ entry, onClose }: { readonly entry: SignIn; readonly onClose: () => void }) {
  const [allowed, setAllowed] = useState(ALLOWED);
  const { attempt, busy } = useBusyRun();

  async function allow() {
    if (await attempt(engine.clients.answer({ id: entry.id, accept: true, options: optionsOf(allowed) }))) onClose();
  }

  return (
    <Sheet
      title="Let this program sign in?" onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={busy || allowed.events.length === 0} onClick={() => void allow()}>Allow</Button>
        </>
      )}
    >
      <p><PersonName text={signInName(entry)} whole /></p>
      <p>It goes back to <strong><PersonName text={entry.host} whole /></strong> afterwards.</p>
      <p>The page in the browser shows <strong className="numbers">{entry.code}</strong>. Allow it only if that is the number you see there.</p>
      {entry.grants.length > 0 && <p>It would also like to <PersonName text={asksBeyond(entry.grants)} whole />. Choose below.</p>}
      <AllowFields value={allowed} onChange={setAllowed} />
    </Sheet>
  );
}
