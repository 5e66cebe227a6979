import { useEffect, useRef, useState } from 'react';
import type { DiffLine, WiringPreview, WiringRow } from '../../app/contract/shell.ts';
import { Button } from '../parts/button.tsx';
import { CodeBox, CopyButton } from '../parts/code-box.tsx';
import { Field } from '../parts/field.tsx';
import { Sheet } from '../parts/sheet.tsx';
import { problemOf, tellGone } from '../stores/notice-store.ts';
import { useLookup } from '../parts/use-lookup.ts';
import { shell, useShell } from '../stores/shell-store.ts';
import { otherNames } from './client-words.ts';
import { refreshWiring } from './refresh-wiring.ts';
import './connect-sheet.css';

interface ConnectSheetProps {
  /** Of a wiring row. */
  readonly id: string;
  readonly change?: 'add' | 'remove';
  readonly onClose: () => void;
}

export const SETTINGS_GONE = "The program's settings can't be read any more, so nothing was changed.";

/** Another program's settings change only after the exact change was shown here (ui.md, rule 9). */
export function ConnectSheet({ id, change = 'add', onClose }: ConnectSheetProps) {
  const row = useShell(({ state }) => state?.wiring.find((each) => each.id === id));
  const isGone = row === undefined;
  useEffect(() => {
    if (!isGone) return;
    onClose();
    tellGone(SETTINGS_GONE);
  }, [isGone, onClose]);
  return row ? <Connect row={row} change={change} onClose={onClose} /> : null;
}

function Connect({ row, change, onClose }: { readonly row: WiringRow; readonly change: 'add' | 'remove'; readonly onClose: () => void }) {
  const { id, title } = row;
  // Fixed when the sheet opens: the change itself alters the row.
  const [words] = useState(() => wordsOf(change, row));
  const { renames } = words;
  const [name, setName] = useState<string | undefined>(renames ? otherNames.fallback : undefined);
  const [looks, setLooks] = useState(0);
  const [refused, setRefused] = useState<string | null>(null);
  const [done, setDone] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const close = useRef<HTMLButtonElement>(null);
  // The button that was pressed is gone with the change.
  useEffect(() => {
    if (done !== null) close.current?.focus();
  }, [done]);
  const badName = name !== undefined && !otherNames.pattern.test(name);
  const looked = useLookup(
    badName ? null : `${looks} ${name ?? ''}`,
    () => shell().wiring.preview({ id, change, ...(name === undefined ? {} : { name }) }), 150,
  );
  // What is shown is what Add makes: never the change under another name.
  const preview = looked.busy ? null : looked.value;
  const problem = refused ?? (looked.busy ? null : looked.problem);

  async function apply(token: string) {
    setBusy(true);
    try {
      const outcome = await shell().wiring.apply({ token });
      setRefused(outcome.ok ? null : outcome.message);
      if (outcome.ok) {
        setDone(outcome.sentence);
        refreshWiring();
      }
    } catch (error) {
      setRefused(problemOf(error));
    } finally {
      setBusy(false);
    }
  }

  function lookAgain() {
    setRefused(null);
    setLooks((before) => before + 1);
  }

  if (done !== null) {
    return (
      <Sheet title={words.done} onClose={onClose} actions={<Button ref={close} look="main" onClick={onClose}>Done</Button>}>
        <p role="status">{done}</p>
        {change === 'add' && row.listenCommand !== null && (
          <>
            <p>To hear events, start it this way:</p>
            <CodeBox text={row.listenCommand} name={`how to start ${title}`} />
          </>
        )}
      </Sheet>
    );
  }

  const copies = change === 'add' && (preview === null || preview.ok);
  return (
    <Sheet
      title={words.title} wide onClose={onClose}
      actions={(
        <>
          {copies && <CopyButton text={row.snippet} name={`the settings for ${title}`} label="Copy instead" />}
          <Button onClick={onClose}>{preview?.ok === false ? 'Close' : 'Cancel'}</Button>
          {problem !== null && <Button onClick={lookAgain}>Look Again</Button>}
          {preview?.ok !== false && (
            <Button look="main" disabled={busy || preview === null || problem !== null} onClick={() => preview?.ok && void apply(preview.token)}>
              {words.verb}
            </Button>
          )}
        </>
      )}
    >
      {renames && (
        <Field
          label="Name" value={name ?? ''} onChange={(event) => setName(event.target.value)} hint="Another server already has the name belfry. It stays as it is."
          problem={badName ? 'A name has 1 to 32 letters, digits, dashes or underscores.' : null}
        />
      )}
      {preview === null && problem === null && !badName && <p className="muted" role="status">Reading {row.file}...</p>}
      {preview?.ok === true && <Change preview={preview} change={change} title={title} />}
      {preview?.ok === false && (
        <>
          <p>{preview.message}</p>
          {(preview.snippet ?? row.snippet) !== '' && change === 'add' && <CodeBox text={preview.snippet ?? row.snippet} name={`the settings for ${title}`} />}
        </>
      )}
      {change === 'add' && <OtherWays row={row} onProblem={setRefused} />}
      {problem && <p className="field-problem" role="alert">{problem}</p>}
    </Sheet>
  );
}

function wordsOf(change: 'add' | 'remove', { title, state }: WiringRow) {
  if (change === 'remove') return { title: `Remove Belfry from ${title}?`, verb: 'Remove', done: `Belfry is removed from ${title}`, renames: false };
  if (state === 'older-copy') return { title: `Repair Belfry's entry in ${title}?`, verb: 'Repair', done: `Belfry's entry in ${title} is repaired`, renames: false };
  return { title: `Add Belfry to ${title}?`, verb: 'Add', done: `Belfry is added to ${title}`, renames: state === 'name-taken' };
}

/** The program's own ways: its link, which the system opens, and its command, which only its owner runs. */
function OtherWays({ row, onProblem }: { readonly row: WiringRow; readonly onProblem: (problem: string) => void }) {
  async function openLink() {
    try {
      const outcome = await shell().wiring.openLink({ id: row.id });
      if (!outcome.ok) onProblem(outcome.message);
    } catch (error) {
      onProblem(problemOf(error));
    }
  }
  return (
    <>
      {row.link !== null && <p>Or let {row.title} ask you itself: <Button dense onClick={() => void openLink()}>Open {row.title}</Button></p>}
      {row.addCommand !== null && (
        <>
          <p>Or run its own command in a terminal:</p>
          <CodeBox text={row.addCommand} name={`the command that adds Belfry to ${row.title}`} />
        </>
      )}
    </>
  );
}

function Change({ preview, change, title }: { readonly preview: WiringPreview & { readonly ok: true }; readonly change: 'add' | 'remove'; readonly title: string }) {
  return (
    <>
      <p>File: <code>{preview.file}</code> <span className="muted">(a backup is kept beside it)</span></p>
      <Diff lines={preview.lines} />
      <p className="muted">Other entries stay as they are.</p>
      {preview.sentence !== null && <p>{preview.sentence}</p>}
      {change === 'remove' && <p className="muted">{title} will no longer start Belfry's helper.</p>}
    </>
  );
}

const MARKS: Readonly<Record<DiffLine['kind'], string>> = { same: ' ', added: '+', removed: '-' };
const SPOKEN: Readonly<Record<DiffLine['kind'], string>> = { same: '', added: 'added: ', removed: 'removed: ' };

function Diff({ lines }: { readonly lines: readonly DiffLine[] }) {
  return (
    // A box that scrolls must be reachable by keyboard.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex
    <pre className="diff" role="group" tabIndex={0} aria-label="The change" dir="ltr">
      {lines.map(({ kind, text }, index) => (
        // Lines have no identity but their place.
        <span key={index} className={`diff-line diff-${kind}`}>
          <span aria-hidden="true">{MARKS[kind]} </span><span className="hidden-text">{SPOKEN[kind]}</span>{text}{'\n'}
        </span>
      ))}
    </pre>
  );
}
