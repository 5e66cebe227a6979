import type { ShellAction } from '../../app/contract/shell.ts';
import { Button } from '../parts/button.tsx';
import { run } from '../stores/notice-store.ts';
import { shell } from '../stores/shell-store.ts';
import { AsideButton, StepFrame } from './step.tsx';

const act = (action: ShellAction) => void run(shell().shell.act({ action }));

export function MoveGate() {
  return (
    <StepFrame
      title="Move Belfry to Applications" number={null}
      actions={(
        <>
          <Button look="main" onClick={() => act('move-to-applications')}>Move and Reopen</Button>
          <Button onClick={() => act('show-in-finder')}>Show in Finder</Button>
          <AsideButton onClick={() => act('quit')}>Quit</AsideButton>
        </>
      )}
    >
      <p>It is running from a temporary copy. Client settings and updates would stop working as soon as that copy goes.</p>
    </StepFrame>
  );
}
