import { useState } from 'react';
import { quotedName } from '../../app/contract/health.ts';
import type { ClientRow, WaitingRow } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Time } from '../parts/time.tsx';
import { focusTitle } from '../parts/view.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import { AllowSheet } from './allow-sheet.tsx';
import { ClientName } from './client-name.tsx';
import { asksWords } from './client-words.ts';

const NO_CLIENTS: readonly ClientRow[] = [];

/** Clients that want events, and changes that a program asked for, as one list. Closing is no answer. */
export function WaitingList({ waiting }: { readonly waiting: readonly WaitingRow[] }) {
  const clients = useEngine(({ slices }) => slices?.clients) ?? NO_CLIENTS;
  const [allowing, setAllowing] = useState<string | null>(null);
  const [answering, setAnswering] = useState(false);
  const asked = waiting.some(({ id }) => id === allowing) ? clients.find(({ id }) => id === allowing) : undefined;

  async function answer(id: string, accept: boolean) {
    setAnswering(true);
    const outcome = await run(engine.clients.answer({ id, accept, options: {} }));
    setAnswering(false);
    if (outcome) focusTitle();
  }

  return (
    <section aria-labelledby="waiting-for-you" className="clients-group">
      <h2 id="waiting-for-you">Waiting for you</h2>
      <ul role="list" className="clients-list">
        {waiting.map((entry) => {
          const client = entry.kind === 'client' ? clients.find(({ id }) => id === entry.id) : undefined;
          const name = client ? quotedName(client) : entry.sentence;
          const asks = client ? asksWords(client) : null;
          return (
            <li key={entry.id} className="waiting">
              <div className="waiting-words">
                <p className="waiting-name">
                  {client ? <ClientName client={client} /> : entry.kind === 'client' ? 'A new client' : 'A program asks for a change'}
                  <span className="hint"> <Time at={entry.since} /></span>
                </p>
                {client && <p className="muted waiting-path"><PersonName text={client.display} />{client.signed ? '' : <span>, not signed</span>}</p>}
                <p><PersonName text={asks === null ? entry.sentence : `Wants ${asks}.`} whole /></p>
              </div>
              <div className="waiting-actions">
                <Button disabled={answering} aria-label={`Don't Allow: ${name}`} onClick={() => void answer(entry.id, false)}>Don't Allow</Button>
                {client
                  ? <Button aria-label={`Allow...: ${name}`} onClick={() => setAllowing(entry.id)}>Allow...</Button>
                  : <Button disabled={answering} aria-label={`Allow: ${name}`} onClick={() => void answer(entry.id, true)}>Allow</Button>}
              </div>
            </li>
          );
        })}
      </ul>
      {asked && (
        <AllowSheet
          client={asked} waits
          onClose={() => {
            setAllowing(null);
            // The entry goes once it is answered, and with it the button that opened the sheet.
            setTimeout(() => document.activeElement === document.body && focusTitle());
          }}
        />
      )}
    </section>
  );
}
