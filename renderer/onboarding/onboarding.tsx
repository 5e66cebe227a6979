import { useEffect, useRef, useState, type ComponentType } from 'react';
import type { OnboardingStep } from '../../app/contract/shell.ts';
import { focusTitle } from '../parts/view.tsx';
import { run } from '../stores/notice-store.ts';
import { setPreference, shell, useShell } from '../stores/shell-store.ts';
import { AccessStepPage } from './access-step.tsx';
import { ConnectStep } from './connect-step.tsx';
import { EventsStep } from './events-step.tsx';
import { MoveGate } from './move-gate.tsx';
import { SendersStep } from './senders-step.tsx';
import type { StepProps } from './step.tsx';
import { needsMove, startStep, stepAfter, stepBefore } from './steps.ts';
import { TryStep } from './try-step.tsx';
import { WelcomeStep } from './welcome-step.tsx';

const STEPS: Readonly<Record<Exclude<OnboardingStep, 'done'>, ComponentType<StepProps>>> = {
  welcome: WelcomeStep, access: AccessStepPage, events: EventsStep, senders: SendersStep, connect: ConnectStep, try: TryStep,
};

/** Each step is kept: macOS may quit the app when the permission changes, and the set-up goes on there (ui.md, section 3). */
export function Onboarding({ screen }: { readonly screen: string | null }) {
  const state = useShell((store) => store.state)!;
  const [step, setStep] = useState<OnboardingStep>(() => startStep(screen, state.preferences.onboarding));
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

  function go(next: OnboardingStep) {
    if (next === 'done') {
      void finish();
      return;
    }
    setStep(next);
    void setPreference('onboarding', next);
    requestAnimationFrame(focusTitle);
  }

  const Step = STEPS[step === 'done' ? 'try' : step];
  return <Step onNext={() => go(stepAfter(step))} onBack={() => go(stepBefore(step))} />;
}

async function finish(): Promise<void> {
  await setPreference('onboarding', 'done');
  await run(shell().shell.act({ action: 'finish-onboarding' }));
}
