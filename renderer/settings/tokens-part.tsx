import { useState } from 'react';
import { quotedName } from '../../app/contract/health.ts';
import type { TokenRow } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { ConfirmSheet } from '../parts/confirm-sheet.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Subject } from '../parts/subject.tsx';
import { Time } from '../parts/time.tsx';
import { engine } from '../stores/engine-store.ts';
import { run } from '../stores/notice-store.ts';
import { SettingsRow } from './settings-group.tsx';
import { TokenSheet } from './token-sheet.tsx';

const nameOf = ({ id, label }: TokenRow): string => quotedName({ label, display: '', id });

/** Bearer tokens and programs that signed in. What each may do stands with the client of the same name. */
export function TokensPart({ tokens }: { readonly tokens: readonly TokenRow[] }) {
  const [open, setOpen] = useState<'new' | { readonly revoke: string } | null>(null);
  const close = () => setOpen(null);
  const revoking = open !== null && open !== 'new' ? tokens.find(({ id }) => id === open.revoke) : undefined;
  return (
    <>
      <SettingsRow label="Tokens" hint="Each is a client of its own: what it may do stands in Clients."><Button icon="plus" onClick={() => setOpen('new')}>New Token...</Button></SettingsRow>
      {tokens.map((token) => (
        <SettingsRow
          key={token.id} label={<PersonName text={nameOf(token)} />}
          hint={<>{token.kind === 'token' ? 'Made' : 'Signed in'} <Time at={token.createdAt} />, {token.usedOn === null ? 'never used' : <>used last <Day at={token.usedOn} /></>}</>}
        >
          <Button aria-label={`Revoke...: ${nameOf(token)}`} onClick={() => setOpen({ revoke: token.id })}>Revoke...</Button>
        </SettingsRow>
      ))}
      {open === 'new' && <TokenSheet onClose={close} />}
      {revoking && (
        <Subject gone="The token is no longer in the list." onClose={close}>
          {(leave) => (
            <ConfirmSheet title="Revoke it?" confirm="Revoke" onConfirm={() => run(engine.tokens.revoke({ id: revoking.id }))} onClose={leave}>
              <p><PersonName text={nameOf(revoking)} whole /></p>
              <p>Whoever shows it gets nothing from then on, and its client goes from the list. This can't be undone; make a new one instead.</p>
            </ConfirmSheet>
          )}
        </Subject>
      )}
    </>
  );
}

/** Only the day is kept, in UTC. */
const Day = ({ at }: { readonly at: number }) => <time className="numbers" dateTime={new Date(at).toISOString().slice(0, 10)}>{new Date(at).toLocaleDateString('en-GB', { day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' })}</time>;
