import { useEffect, useRef } from 'react';
import icon from '../../resources/icon.svg';
import { Button } from '../parts/button.tsx';
import { Icon } from '../parts/icon.tsx';
import { useNow } from '../stores/clock.ts';
import { engine, useEngine } from '../stores/engine-store.ts';
import { run, say } from '../stores/notice-store.ts';
import { shell, useInApp, useShell } from '../stores/shell-store.ts';
import { accessStep, ADMINISTRATOR } from './access-words.ts';
import { AsideButton, StepFrame, type StepProps } from './step.tsx';
import { stepWords } from './steps.ts';

const PROBE_MS = 1000;

export function AccessStepPage({ onNext, onBack }: StepProps) {
  const state = useShell((store) => store.state)!;
  const access = useEngine(({ slices }) => slices?.access ?? null);
  const inApp = useInApp();
  const now = useNow(PROBE_MS);
  const step = accessStep(access, state, now);
  const goOn = useRef<HTMLButtonElement>(null);
  const id = step.id;

  // Only while this step shows. What the engine finds comes back with its slices; while it is away the shell looks.
  useEffect(() => {
    const probe = () => void engine.access.probe({}).catch(() => undefined);
    probe();
    const timer = setInterval(probe, PROBE_MS);
    return () => clearInterval(timer);
  }, []);
  const first = useRef(true);
  useEffect(() => {
    if (!first.current) say(step.sentence);
    if (id === 'granted') goOn.current?.focus();
    first.current = false;
  }, [id, step.sentence]);

  // The step can be left in every state: without access the window says what is missing (ui.md, Full Disk Access).
  const done = id === 'granted' || id === 'cant-tell';
  return (
    <StepFrame
      title="Full Disk Access" number={stepWords('access')}
      actions={(
        <>
          {done && <Button ref={goOn} look="main" onClick={onNext}>Continue</Button>}
          {id === 'reopen' && <Button look="main" onClick={() => void run(shell().shell.act({ action: 'reopen' }))}>Reopen Belfry</Button>}
          {!done && inApp && <Button look={id === 'reopen' ? 'normal' : 'main'} onClick={() => void openSettings()}>Open System Settings</Button>}
          <Button onClick={onBack}>Back</Button>
          {!done && <AsideButton onClick={onNext}>Skip</AsideButton>}
        </>
      )}
    >
      <p>macOS keeps mail and messages behind Full Disk Access. It covers more than Belfry uses. Belfry opens only Mail's index and the Messages database.</p>
      <details className="step-details">
        <summary>What we read</summary>
        <p>From Mail's index: senders, recipients, subjects, times, mailboxes and whether there are attachments. From the Messages database: senders, chats, times and the number of attachments. From Contacts: names for numbers. Never the text of a mail or message.</p>
      </details>
      {inApp
        ? id !== 'granted' && (
          <div className="access-ways">
            <DragTile />
            <ol className="step-list">
              <li>Open System Settings.</li>
              <li>Turn on Belfry. Not listed? Drag this icon into the list.</li>
              <li>Choose Quit &amp; Reopen if macOS asks.</li>
            </ol>
          </div>
        )
        : <p>This page runs in a browser. Full Disk Access is given on the Mac to the program that started the engine: the terminal, or the app.</p>}
      <p className={`step-state${id === 'granted' ? ' step-granted' : ''}`} data-access={id}>
        <Icon id={id === 'granted' ? 'check' : 'wait'} />
        <span>{step.sentence}</span>
      </p>
      {step.notes.map((note) => <p key={note} className="step-note">{note}</p>)}
      {step.hint !== null && <p className="step-note">{step.hint}</p>}
      {!done && inApp && (
        <details className="step-details">
          <summary>Having trouble?</summary>
          <ul className="step-list">
            <li>
              The icon can't be dragged? Drag the app from there:{' '}
              <Button dense onClick={() => void run(shell().shell.act({ action: 'show-in-finder' }))}>Show in Finder</Button>
            </li>
            <li>Already on? Select Belfry in the list, remove it with the minus button, then add it again.</li>
            {!step.notes.includes(ADMINISTRATOR) && <li>No password at hand, or the switch is greyed? {ADMINISTRATOR}</li>}
            <li>Without access Belfry watches nothing. You can go on and come back to this later.</li>
          </ul>
        </details>
      )}
    </StepFrame>
  );
}

/** Dragged by pointer only. */
function DragTile() {
  return (
    // The pointer needs something to take hold of, and nothing here answers to a click or a key.
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions
    <figure
      className="access-tile" draggable
      onDragStart={(event) => {
        // The system drags the app itself; the page's own drag would carry a picture.
        event.preventDefault();
        void run(shell().shell.act({ action: 'drag-app' }));
      }}
    >
      <img src={icon} alt="" width={56} height={56} draggable={false} />
      <figcaption>Belfry</figcaption>
    </figure>
  );
}

/** Read once before, so that Belfry is in the list. */
async function openSettings(): Promise<void> {
  await engine.access.probe({}).catch(() => undefined);
  await run(shell().shell.act({ action: 'open-full-disk-access' }));
}
