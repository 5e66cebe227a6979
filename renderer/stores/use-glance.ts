import { useMemo } from 'react';
import { glanceOf, type Glance } from '../../app/contract/glance.ts';
import type { Health, HealthDeed } from '../../app/contract/health.ts';
import { untilWords } from '../../app/contract/time-words.ts';
import { useNow } from './clock.ts';
import { engine, useEngine } from './engine-store.ts';
import { run } from './notice-store.ts';
import { shell, useShell } from './shell-store.ts';
import { openSection } from './view-store.ts';

export interface Look {
  readonly glance: Glance;
  /** The engine is being started: values are the last ones known. */
  readonly starting: boolean;
}

/** What panel, banner and footer show, all from the same model. Null before the shell has answered. */
export function useGlance(): Look | null {
  const state = useShell((store) => store.state);
  const slices = useEngine((store) => store.slices);
  const away = useEngine((store) => store.away);
  const now = useNow();
  return useMemo(() => {
    if (state === null) return null;
    const glance = glanceOf({ shell: state, slices }, now, (at) => untilWords(at, now));
    return {
      glance: state.kind === 'browser' ? { ...glance, health: inBrowser(glance.health) } : glance,
      starting: away && slices !== null && state.engine !== 'stopped',
    };
  }, [state, slices, away, now]);
}

/** What only the app on a Mac can do is no button in a browser; the evidence is. */
function inBrowser(health: Health): Health {
  return health.action?.deed.kind === 'shell' ? { ...health, action: { label: 'Show Diagnostics', deed: { kind: 'open', section: 'diagnostics' } } } : health;
}

/**
 * Does what the button of a headline says.
 * @param here the main window opens a section in itself; elsewhere the shell opens the main window
 */
export function doDeed(deed: HealthDeed, here: boolean): void {
  if (deed.kind === 'resume') void run(engine.pause.resume({}));
  else if (deed.kind === 'shell') void run(shell().shell.act({ action: deed.action }));
  else if (here) openSection(deed.section);
  else void run(shell().shell.open({ section: deed.section }));
}

/** @param ms null: until resumed */
export function startPause(ms: number | null): void {
  void run(engine.pause.start({ ms }));
}
