import { useEffect, useRef, useState } from 'react';
import type { Slices } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { focusTitle } from '../parts/view.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { showProblem } from '../stores/notice-store.ts';
import { ALLOWED, AllowFields, optionsOf } from './allow-fields.tsx';
import { asksBeyond, signInName, type SignIn } from './waiting-words.ts';

/**
 * Lets a program in that asked in the browser. What it hinted at is told, and nothing of it is chosen. It shows the request
 * that it was opened for and no other: once that one is over, or says anything else, it closes with a sentence.
 */
export function SignInSheet({ entry, onClose }: { readonly entry: SignIn; readonly onClose: () => void }) {
  const [asked] = useState(entry);
  const [allowed, setAllowed] = useState(ALLOWED);
  const { attempt, busy } = useBusyRun();
  const answering = useRef(false);
  const stands = useEngine(({ slices }) => stateOf(asked, slices) === 'waits');
  useEffect(() => {
    if (!stands && !busy) onClose();
  }, [stands, busy, onClose]);
  // Also where the list that it belongs to is gone with it. The owner's own answer says what became of it.
  useEffect(() => () => {
    const state = stateOf(asked, useEngine.getState().slices);
    if (answering.current || state === 'waits') return;
    showProblem(OVER[state]);
    setTimeout(() => document.activeElement === document.body && focusTitle());
  }, [asked]);

  async function allow() {
    answering.current = true;
    const done = await attempt(engine.clients.answer({ id: asked.id, accept: true, options: optionsOf(allowed) }));
    answering.current = done;
    if (done) onClose();
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
      <p><PersonName text={signInName(asked)} whole /></p>
      <p>It goes back to <strong><PersonName text={asked.host} whole /></strong> afterwards.</p>
      <p>The page in the browser shows <strong className="numbers">{asked.code}</strong>. Allow it only if that is the number you see there.</p>
      {asked.grants.length > 0 && <p>It would also like to <PersonName text={asksBeyond(asked.grants)} whole />. Choose below.</p>}
      <AllowFields value={allowed} onChange={setAllowed} />
    </Sheet>
  );
}

const OVER = {
  gone: 'The program no longer waits to sign in: it was answered, or its time ran out.',
  changed: 'The request to sign in changed while you looked at it, so it was closed. Look at it again.',
} as const;

/** What became of a request since it was shown. */
function stateOf(asked: SignIn, slices: Slices | null): 'waits' | keyof typeof OVER {
  const now = slices?.waiting.find(({ id }) => id === asked.id);
  if (now === undefined) return 'gone';
  const same = now.kind === 'sign-in' && now.client === asked.client && now.code === asked.code && now.host === asked.host && now.name === asked.name;
  return same ? 'waits' : 'changed';
}
