import type { OnboardingStep, ShellState } from '../../app/contract/shell.ts';

/** In their order. The welcome has no number, and `done` shows nothing. */
export const NUMBERED: readonly OnboardingStep[] = ['access', 'events', 'senders', 'connect', 'try'];

const ORDER: readonly OnboardingStep[] = ['welcome', ...NUMBERED, 'done'];

export const stepAfter = (step: OnboardingStep): OnboardingStep => ORDER[ORDER.indexOf(step) + 1] ?? 'done';
export const stepBefore = (step: OnboardingStep): OnboardingStep => ORDER[ORDER.indexOf(step) - 1] ?? 'welcome';

/** `Step 2 of 5`, or null for what has no number. */
export function stepWords(step: OnboardingStep): string | null {
  const index = NUMBERED.indexOf(step);
  return index < 0 ? null : `Step ${index + 1} of ${NUMBERED.length}`;
}

/** Before all steps: settings and updates of a temporary copy stop working with it. A build that is no package has nothing to move. */
export const needsMove = ({ kind, location }: Pick<ShellState, 'kind' | 'location'>): boolean => kind === 'app' && location !== 'ok' && location !== 'unpackaged';

/** Where the set-up goes on. One that was ended and is opened again starts over. */
export function startStep(screen: string | null, kept: OnboardingStep): OnboardingStep {
  const asked = ORDER.find((step) => step === screen && step !== 'done');
  return asked ?? (kept === 'done' ? 'welcome' : kept);
}
