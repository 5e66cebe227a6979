import { useState } from 'react';
import { many } from '../../app/contract/glance.ts';
import type { ExcludedPlaces } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Checkbox } from '../parts/checkbox.tsx';
import { Field } from '../parts/field.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { useBusyRun } from '../parts/use-busy-run.ts';
import { useLookup } from '../parts/use-lookup.ts';
import { engine } from '../stores/engine-store.ts';
import { offerUndo, run } from '../stores/notice-store.ts';
import { allOf, changesOf, fullName, goneOf, groupsOf, outerOf, searchGroups, type Place, type PlaceGroup } from './left-out.ts';
import './left-out-sheet.css';

/** Longer lists get a search field, and show so many of an account at once. */
const FEW = 12;
const SHOWN = 100;

/** Accounts and mailboxes that no client hears of, reads or finds. What is lifted is named before it is saved. */
export function LeftOutSheet({ onClose }: { readonly onClose: () => void }) {
  const found = useLookup('all', () => engine.excluded.places({}), 0);
  return (
    found.value === null
      ? (
        <Sheet title="Left out" onClose={onClose} actions={<Button onClick={onClose}>Close</Button>}>
          {found.problem === null ? <p className="muted">Looking...</p> : <p className="field-problem" role="alert">{found.problem}</p>}
        </Sheet>
      )
      : <Chooser places={found.value} onClose={onClose} />
  );
}

async function save(add: readonly Place[], remove: readonly Place[]): Promise<boolean> {
  const names = (list: readonly Place[]) => list.map(({ place }) => place);
  // What is left out comes first: a failure in between leaves too much out, never too little.
  if (add.length > 0 && !await run(engine.excluded.add({ places: names(add) }))) return false;
  return remove.length === 0 || await run(engine.excluded.remove({ places: names(remove) })) !== null;
}

function Chooser({ places, onClose }: { readonly places: ExcludedPlaces; readonly onClose: () => void }) {
  const all = allOf(places);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(all.filter(({ isExcluded }) => isExcluded).map(({ place }) => place)));
  const [text, setText] = useState('');
  const { attempt, busy } = useBusyRun();
  const { added, lifted } = changesOf(places, chosen);
  const groups = searchGroups(groupsOf(places), text);

  function choose(place: string, on: boolean) {
    const next = new Set(chosen);
    if (on) next.add(place);
    else next.delete(place);
    setChosen(next);
  }

  async function finish() {
    if (!await attempt(save(added, lifted).then((done) => done || null))) return;
    // What is gone can't be left out again by its name.
    const back = lifted.filter(({ isGone }) => !isGone);
    if (added.length + back.length > 0) offerUndo(savedWords(added, lifted), () => void save(back, added));
    onClose();
  }

  return (
    <Sheet
      title="Left out" onClose={onClose}
      actions={(
        <>
          <Button onClick={onClose}>Cancel</Button>
          <Button look="main" disabled={busy || added.length + lifted.length === 0} onClick={() => void finish()}>Save</Button>
        </>
      )}
    >
      <p>No client hears of mail there, reads it or finds it, whatever else it may do. A mailbox takes those inside it along.</p>
      {!places.readable && <p className="muted">Accounts and mailboxes are listed once New mail is on and Belfry can read Mail.</p>}
      {all.length > FEW && <Field label="Search accounts and mailboxes" hideLabel placeholder="Search" type="search" value={text} onChange={(event) => setText(event.target.value)} />}
      {text.trim() !== '' && groups.length === 0 && <p className="muted">Nothing matches.</p>}
      {groups.map((group) => <Account key={group.account.place} group={group} chosen={chosen} onChoose={choose} />)}
      {text.trim() === '' && goneOf(places).map(({ place, name }) => (
        <Checkbox key={place} label={<><PersonName text={name} whole /> (not found now)</>} checked={chosen.has(place)} onChange={(on) => choose(place, on)} />
      ))}
      {lifted.length > 0 && (
        <p className="left-out-lifted" role="status">
          No longer left out: <PersonName text={lifted.slice(0, 3).map(fullName).join(', ')} whole />{lifted.length > 3 && ` and ${lifted.length - 3} more`}. Clients may then hear of mail there and read it, as far as you allow each.
        </p>
      )}
    </Sheet>
  );
}

interface AccountProps {
  readonly group: PlaceGroup;
  readonly chosen: ReadonlySet<string>;
  readonly onChoose: (place: string, on: boolean) => void;
}

function Account({ group, chosen, onChoose }: AccountProps) {
  const { account, mailboxes } = group;
  return (
    <fieldset className="left-out-account">
      <legend className="left-out-name"><PersonName text={account.name} /></legend>
      <Checkbox label="All of this account" checked={chosen.has(account.place)} onChange={(on) => onChoose(account.place, on)} />
      {mailboxes.slice(0, SHOWN).map((mailbox) => {
        const outer = outerOf(group, mailbox, chosen);
        return (
          <Checkbox
            key={mailbox.place} label={<PersonName text={mailbox.name} />} checked={outer !== null || chosen.has(mailbox.place)} disabled={outer !== null}
            onChange={(on) => onChoose(mailbox.place, on)}
          />
        );
      })}
      {mailboxes.length > SHOWN && <p className="hint">{mailboxes.length - SHOWN} more. Search to find them.</p>}
    </fieldset>
  );
}

function savedWords(added: readonly Place[], lifted: readonly Place[]): string {
  const count = (list: readonly Place[]) => many(list.length, 'place');
  return [...(added.length > 0 ? [`${count(added)} left out.`] : []), ...(lifted.length > 0 ? [`${count(lifted)} no longer left out.`] : [])].join(' ');
}
