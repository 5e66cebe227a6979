import { Button } from '../parts/button.tsx';
import { run } from '../stores/notice-store.ts';
import { shell } from '../stores/shell-store.ts';
import { StepFrame, type StepProps } from './step.tsx';

export function WelcomeStep({ onNext }: StepProps) {
  return (
    <StepFrame
      title="Let your agent know when mail or messages arrive" number={null}
      actions={(
        <>
          <Button look="main" onClick={onNext}>Set Up</Button>
          <Button onClick={() => void run(shell().shell.act({ action: 'finish-onboarding' }))}>Not Now</Button>
        </>
      )}
    >
      <ul className="step-list">
        <li>Only the envelope is sent: who, when, which mailbox. Never the text.</li>
        <li>Only from senders you allow.</li>
        <li>Everything is off until you turn it on.</li>
      </ul>
      <p>Belfry needs one macOS permission and one connected app.</p>
    </StepFrame>
  );
}
