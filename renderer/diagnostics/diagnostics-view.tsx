import { useState } from 'react';
import type { DiagnosticRow } from '../../app/contract/values.ts';
import { Button } from '../parts/button.tsx';
import { Icon, type IconId } from '../parts/icon.tsx';
import { problemOf } from '../stores/notice-store.ts';
import { useLookup } from '../parts/use-lookup.ts';
import { View } from '../parts/view.tsx';
import { clockNow } from '../stores/clock.ts';
import { engine } from '../stores/engine-store.ts';
import { copyText } from '../stores/own-machine.ts';
import { shell, useShell } from '../stores/shell-store.ts';
import { reportText } from './report-text.ts';
import './diagnostics-view.css';

const STATES: Readonly<Record<DiagnosticRow['state'], { readonly icon: IconId; readonly word: string }>> = {
  ok: { icon: 'check', word: 'OK' },
  warning: { icon: 'warning', word: 'Warning' },
  problem: { icon: 'problem', word: 'Problem' },
  'cant-check': { icon: 'unknown', word: "Can't check" },
};

export function DiagnosticsView() {
  const [runs, setRuns] = useState(0);
  const version = useShell(({ state }) => state?.version ?? '');
  const { value: rows, busy } = useLookup(String(runs), allRows, 0);
  return (
    <View
      title="Diagnostics"
      tools={(
        <>
          <Button disabled={busy} onClick={() => setRuns(runs + 1)}>{busy ? 'Running...' : 'Run Again'}</Button>
          <Button icon="copy" disabled={rows === null} onClick={() => rows && void copyText(reportText(version, rows, clockNow()))}>Copy Report</Button>
        </>
      )}
    >
      {rows === null && <p className="muted">Running...</p>}
      {rows && (
        <ul role="list" className="diagnostics-list">
          {rows.map((row) => (
            <li key={row.id} className={`diagnostics-row diagnostics-${row.state}`}>
              <Icon id={STATES[row.state].icon} />
              <span className="hidden-text">{STATES[row.state].word}: </span>
              <span className="diagnostics-title">{row.title}</span>
              <span className="diagnostics-evidence">{row.evidence}{row.fix !== null && <span className="diagnostics-fix"> {row.fix}</span>}</span>
            </li>
          ))}
        </ul>
      )}
      <p className="hint">The report has no names, addresses, subjects or file contents.</p>
    </View>
  );
}

/** The shell's rows and the engine's. One that does not answer is a row too: then this page is needed most. */
async function allRows(): Promise<readonly DiagnosticRow[]> {
  const failed = (id: string, title: string) => (error: unknown): DiagnosticRow[] => [{ id, title, state: 'problem', evidence: `did not answer: ${problemOf(error)}`, fix: null }];
  const [own, engines] = await Promise.all([
    shell().shell.diagnostics({}).catch(failed('shell', 'Belfry')),
    engine.diagnostics.run({}).catch(failed('engine', 'Engine')),
  ]);
  // Both sides may look at one thing; the shell's view of it comes first.
  const ids = new Set(own.map(({ id }) => id));
  return [...own, ...engines.map((row) => (ids.has(row.id) ? { ...row, id: `engine-${row.id}` } : row))];
}
