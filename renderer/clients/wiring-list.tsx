import { useState } from 'react';
import type { WiringRow } from '../../app/contract/shell.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { CodeBox } from '../parts/code-box.tsx';
import { copyText } from '../stores/own-machine.ts';
import { run } from '../stores/notice-store.ts';
import { shell } from '../stores/shell-store.ts';
import { openConnect } from '../stores/view-store.ts';
import { startOf, wiringWords } from './client-words.ts';
import { ConnectSheet } from './connect-sheet.tsx';

interface WiringListProps {
  readonly wiring: readonly WiringRow[];
  /** Rows whose client is connected. */
  readonly running: ReadonlySet<string>;
}

/** Programs found on this Mac, by their settings files. */
export function WiringList({ wiring, running }: WiringListProps) {
  const [removing, setRemoving] = useState<string | null>(null);
  const found = wiring.filter(({ state }) => state !== 'not-installed');
  return (
    <section aria-labelledby="clients-here" className="clients-group">
      <h2 id="clients-here">On this Mac</h2>
      {found.length === 0 && <p className="muted">No program that Belfry knows was found. Copy the settings for any other one.</p>}
      {found.length > 0 && (
        <ul role="list" className="clients-list">
          {found.map((row) => {
            const { text, kind, action, button } = wiringWords(row, running.has(row.id));
            const start = startOf(row, running.has(row.id));
            return (
              <li key={row.id} className="wiring">
                <span className="wiring-title">{row.title}</span>
                <Badge kind={kind} text={text} />
                {row.sentence !== null && <span className="muted wiring-sentence">{row.sentence}</span>}
                <div className="wiring-action">
                  {start === 'app' && <Button aria-label={`Open: ${row.title}`} onClick={() => void run(shell().wiring.open({ id: row.id }))}>Open</Button>}
                  {action && (
                    <Button
                      aria-label={`${button}: ${row.title}`}
                      onClick={() => {
                        if (action === 'show') void run(shell().wiring.show({ id: row.id }));
                        else if (action === 'copy') void copyText(row.snippet);
                        else if (action === 'remove') setRemoving(row.id);
                        else openConnect(row.id);
                      }}
                    >
                      {button}
                    </Button>
                  )}
                </div>
                {start !== null && start !== 'app' && <div className="wiring-start"><CodeBox text={start.command} name={`how to start ${row.title}`} /></div>}
              </li>
            );
          })}
        </ul>
      )}
      {removing !== null && <ConnectSheet id={removing} change="remove" onClose={() => setRemoving(null)} />}
    </section>
  );
}
