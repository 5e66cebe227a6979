import { useEffect, useRef, useState, type ComponentType } from 'react';
import type { OnboardingStep } from '../../app/contract/shell.ts';
import { focusTitle } from '../parts/view.tsx';
import { run } from '../stores/notice-store.ts';
import { setPreference, shell, useShell } from '../stores/shell-store.ts';
import { AccessStepPage } from './access-step.tsx';
import { EventsStep } from './events-step.tsx';
import { MoveGate } from './move-gate.tsx';
import type { StepProps } from './step.tsx';
import { needsMove, startStep, stepAfter, stepBefore } from './steps.ts';
import { WelcomeStep } from './welcome-step.tsx';

type Shown = Exclude<OnboardingStep, 'done'>;

/** Steps that are there; the later ones come a moment after the first one stands. */
const steps: Partial<Record<Shown, ComponentType<StepProps>>> = { welcome: WelcomeStep, access: AccessStepPage, events: EventsStep };
async function loadRest(): Promise<void> {
  const [{ SendersStep }, { ConnectStep }, { TryStep }] = await Promise.all([import('./senders-step.tsx'), import('./connect-step.tsx'), import('./try-step.tsx')]);
  Object.assign(steps, { senders: SendersStep, connect: ConnectStep, try: TryStep });
}
const shownOf = (step: OnboardingStep): Shown => (step === 'done' ? 'try' : step);

/** Each step is kept: macOS may quit the app when the permission changes, and the set-up goes on there (ui.md, section 3). */
export function Onboarding({ screen }: { readonly screen: string | null }) {
  const state = useShell((store) => store.state)!;
  const [step, setStep] = useState<OnboardingStep>(() => startStep(screen, state.preferences.onboarding));
  const [, setReady] = useState(false);
  useEffect(() => void loadRest().then(() => setReady(true), () => undefined), []);
  const gate = needsMove(state);
  // The step on screen is the step that is kept: while it is Access, the shell looks for the permission too.
  const kept = state.preferences.onboarding;
  const begun = useRef(false);
  useEffect(() => {
    if (gate || begun.current) return;
    begun.current = true;
    if (kept !== step) void setPreference('onboarding', step);
  }, [gate, kept, step]);

  if (gate) return <MoveGate />;

  async function go(next: OnboardingStep) {
    if (next === 'done') return finish();
    // The step stands when it is shown, so that its title can take the focus.
    if (!steps[shownOf(next)]) await loadRest();
    setStep(next);
    void setPreference('onboarding', next);
    requestAnimationFrame(focusTitle);
  }

  const Step = steps[shownOf(step)];
  return Step && <Step onNext={() => void go(stepAfter(step))} onBack={() => void go(stepBefore(step))} />;
}

async function finish(): Promise<void> {
  await setPreference('onboarding', 'done');
  await run(shell().shell.act({ action: 'finish-onboarding' }));
}
