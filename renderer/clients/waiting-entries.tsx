import { useState } from 'react';
import { quotedName } from '../../app/contract/health.ts';
import type { ClientRow, WaitingRow } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { nameLabel, textLabel } from '../parts/clean-name.ts';
import { PersonName } from '../parts/person-name.tsx';
import { Subject } from '../parts/subject.tsx';
import { Time } from '../parts/time.tsx';
import { useNow } from '../stores/clock.ts';
import { engine, useEngine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import { AllowSheet } from './allow-sheet.tsx';
import { OutgoingText } from './outgoing-text.tsx';
import { SignInSheet } from './sign-in-sheet.tsx';
import { endsWords, signInName, signInOver, signInState, waitingWords } from './waiting-words.ts';

const NO_CLIENTS: readonly ClientRow[] = [];
const NO_WAITING: readonly WaitingRow[] = [];
const ANSWERS: Readonly<Record<WaitingRow['kind'], readonly [no: string, yes: string]>> = {
  client: ["Don't Allow", 'Allow...'], change: ["Don't Allow", 'Allow'], 'sign-in': ["Don't Allow", 'Allow...'], send: ["Don't Send", 'Send'], draft: ["Don't Open", 'Open Draft'],
};

/** Entries of Waiting for you with their answers. */
export function WaitingEntries({ waiting }: { readonly waiting: readonly WaitingRow[] }) {
  const clients = useEngine(({ slices }) => slices?.clients) ?? NO_CLIENTS;
  const [allowing, setAllowing] = useState<WaitingRow | null>(null);
  const [answering, setAnswering] = useState(false);
  // As it is by now: it may have wished for more since the sheet was opened.
  const opened = waiting.find(({ id }) => id === allowing?.id);
  const asked = opened?.kind === 'client' ? clients.find(({ id }) => id === opened.id) : undefined;
  // The request that the sheet was opened for, and no other that takes its place.
  const signIn = allowing?.kind === 'sign-in' && signInState(allowing, waiting) === 'waits' ? allowing : null;
  const close = () => setAllowing(null);

  async function answer(id: string, accept: boolean) {
    setAnswering(true);
    await run(engine.clients.answer({ id, accept, options: {} }));
    setAnswering(false);
  }

  return (
    <>
      <ul role="list" className="clients-list">
        {waiting.map((entry) => (
          <WaitingEntry
            key={entry.id} entry={entry} client={clients.find(({ id }) => id === entry.client) ?? null} disabled={answering}
            onAnswer={(accept) => (accept && (entry.kind === 'sign-in' || (entry.kind === 'client' && clients.some(({ id }) => id === entry.id))) ? setAllowing(entry) : void answer(entry.id, accept))}
          />
        ))}
      </ul>
      {asked && <Subject gone="The client no longer waits for an answer." onClose={close}>{(leave) => <AllowSheet client={asked} waits wishes={opened?.kind === 'client' ? opened.grants : []} onClose={leave} />}</Subject>}
      {signIn && (
        <Subject gone={() => signInOver(signIn, useEngine.getState().slices?.waiting ?? NO_WAITING)} onClose={close}>{(leave) => <SignInSheet entry={signIn} onClose={leave} />}</Subject>
      )}
    </>
  );
}

interface WaitingEntryProps {
  readonly entry: WaitingRow;
  readonly client: ClientRow | null;
  readonly disabled: boolean;
  readonly onAnswer: (accept: boolean) => void;
}

function WaitingEntry({ entry, client, disabled, onAnswer }: WaitingEntryProps) {
  const isText = entry.kind === 'send' || entry.kind === 'draft';
  // A change that some program asked for may be about a client: its own sentence names it.
  const itself = entry.kind === 'sign-in' || (entry.kind === 'change' && entry.grants.length === 0) ? null : client;
  const name = itself ? quotedName(itself) : isText ? entry.clientName : entry.kind === 'sign-in' ? signInName(entry) : entry.kind === 'client' ? 'A new client' : 'A program asks for a change';
  const words = waitingWords(entry, itself);
  // Which one of several a button answers.
  const about = entry.kind === 'change' && itself === null ? textLabel(entry.sentence) : nameLabel(name);
  const [no, yes] = ANSWERS[entry.kind];
  return (
    <li className={`waiting${isText ? ' waiting-text' : ''}`}>
      <div className="waiting-words">
        <p className="waiting-name">
          <PersonName text={name} /><span className="hint"> <Time at={entry.since} /></span>
          {'expiresAt' in entry && <Ends at={entry.expiresAt} />}
        </p>
        {entry.kind === 'client' && client && <p className="muted waiting-path"><PersonName text={client.display} />{client.signed ? '' : <span>, not signed</span>}</p>}
        <p><PersonName text={words} whole /></p>
        {entry.kind === 'sign-in' && <p className="waiting-code numbers"><span className="hidden-text">Number: </span>{entry.code}</p>}
        {isText && <OutgoingText entry={entry} />}
      </div>
      <div className="waiting-actions">
        <Button disabled={disabled} aria-label={`${no}: ${about}`} onClick={() => onAnswer(false)}>{no}</Button>
        <Button disabled={disabled} aria-label={`${yes}: ${about}`} onClick={() => onAnswer(true)}>{yes}</Button>
      </div>
    </li>
  );
}

/** Not read out each second: it is there for who looks. */
function Ends({ at }: { readonly at: number }) {
  const now = useNow(1000);
  return <span className="hint">{endsWords(at, now)}</span>;
}
