import { useEffect } from 'react';
import { refreshWiring } from '../clients/refresh-wiring.ts';
import { wiringWords } from '../clients/client-words.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { CopyButton } from '../parts/code-box.tsx';
import { useInApp, useShell } from '../stores/shell-store.ts';
import { openConnect } from '../stores/view-store.ts';
import { AsideButton, StepFrame, type StepProps } from './step.tsx';
import { stepWords } from './steps.ts';

const CONNECTS: readonly unknown[] = ['connect', 'repair', 'rename'];

export function ConnectStep({ onNext, onBack }: StepProps) {
  const state = useShell((store) => store.state)!;
  const inApp = useInApp();
  // Read on every view: another program may have changed its file since (ui.md, Clients).
  useEffect(refreshWiring, []);
  const found = state.wiring.filter((row) => row.state !== 'not-installed');
  return (
    <StepFrame
      title="Connect an app" number={stepWords('connect')}
      actions={(
        <>
          <Button look="main" onClick={onNext}>{found.some((row) => row.state === 'set-up') ? 'Continue' : 'Do This Later'}</Button>
          <AsideButton onClick={onBack}>Back</AsideButton>
        </>
      )}
    >
      <p>Belfry adds one entry to the settings of the app you choose. The exact change is shown first, and a backup is kept.</p>
      <ul role="list" className="step-card">
        {found.map((row) => {
          const { text, kind, action, button } = wiringWords(row, true);
          return (
            <li key={row.id} className="step-row">
              <div className="step-words">
                <p className="step-name">{row.title}</p>
                {row.sentence !== null && <p className="muted">{row.sentence}</p>}
              </div>
              <Badge kind={kind} text={row.state === 'not-set-up' ? 'Found' : text} />
              {CONNECTS.includes(action) && <Button aria-label={`${button}: ${row.title}`} onClick={() => openConnect(row.id)}>{button}</Button>}
              {!CONNECTS.includes(action) && row.state !== 'set-up' && <CopyButton text={row.snippet} name={`the settings for ${row.title}`} label="Copy settings" />}
            </li>
          );
        })}
        {state.shim !== null && (
          <li className="step-row">
            <p className="step-words step-name">Another app...</p>
            <CopyButton text={anyEntry(state.shim)} name="the settings for another app" label="Copy settings" />
          </li>
        )}
      </ul>
      {!inApp && found.length === 0 && <p className="muted">Other apps on a Mac are found and connected by the menu-bar app. Here, copy the settings into the app that should hear events.</p>}
    </StepFrame>
  );
}

/** The shape that most programs read; `--client` is only a label. */
const anyEntry = (shim: string): string => JSON.stringify({ mcpServers: { belfry: { command: shim, args: ['--client=other'] } } }, null, 2);
