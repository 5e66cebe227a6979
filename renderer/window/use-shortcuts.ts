import { useEffect } from 'react';
import type { Section } from '../../app/contract/shell.ts';
import type { ViewName } from '../app.tsx';
import { engine, useEngine } from '../stores/engine-store.ts';
import { run, undoNow } from '../stores/notice-store.ts';
import { setHideDetails } from '../stores/shell-store.ts';
import { openAddSender, openSection, requestFind, useView } from '../stores/view-store.ts';

const NUMBERED: Readonly<Record<string, Section>> = { 1: 'events', 2: 'senders', 3: 'live', 4: 'clients', 5: 'activity' };

export const onMac = (): boolean => navigator.platform.startsWith('Mac');

/** The keys of ui.md, section 5: with Cmd on a Mac, with Ctrl elsewhere. Cmd-W is the window's own. */
export function useShortcuts(view: ViewName): void {
  useEffect(() => {
    function onKeyDown(event: KeyboardEvent) {
      const command = onMac() ? event.metaKey && !event.ctrlKey : event.ctrlKey && !event.metaKey;
      if (!command || event.altKey || event.defaultPrevented) return;
      // In a sheet only undo and text editing make sense.
      if (document.querySelector('dialog[open]') && event.key.toLowerCase() !== 'z') return;
      if (deedOf(event, view)?.() === true) event.preventDefault();
    }
    window.addEventListener('keydown', onKeyDown);
    return () => window.removeEventListener('keydown', onKeyDown);
  }, [view]);
}

/** What a key does; it answers whether it did something. */
function deedOf(event: KeyboardEvent, view: ViewName): (() => boolean) | null {
  const key = event.key.toLowerCase();
  const done = (deed: () => unknown) => () => {
    deed();
    return true;
  };
  // A field has an undo of its own.
  if (key === 'z' && !event.shiftKey) return isEditable(event.target) ? null : undoNow;
  if (key === '.') return done(togglePause);
  if (view !== 'window') return null;
  if (key === 'h' && event.shiftKey) return done(() => setHideDetails(!useView.getState().hideDetails));
  if (event.shiftKey) return null;
  const section = NUMBERED[key];
  if (section) return done(() => openSection(section));
  if (key === ',') return done(() => openSection('settings'));
  if (key === 'f') return done(requestFind);
  if (key === 'n') return done(() => openAddSender());
  return null;
}

function togglePause(): void {
  const paused = useEngine.getState().slices?.pausedUntil ?? null;
  void run(paused === null ? engine.pause.start({ ms: null }) : engine.pause.resume({}));
}

const isEditable = (target: EventTarget | null): boolean =>
  target instanceof HTMLTextAreaElement || (target instanceof HTMLInputElement && !['checkbox', 'radio', 'button'].includes(target.type));
