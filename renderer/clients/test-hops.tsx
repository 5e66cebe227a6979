import { useState } from 'react';
import type { TestHop } from '../../app/contract/values.ts';
import { Badge } from '../parts/badge.tsx';
import { Button } from '../parts/button.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { problemOf } from '../stores/notice-store.ts';
import { engine } from '../stores/engine-store.ts';

/** Sends one event marked as a test and shows how far it came. */
export function TestHops({ id }: { readonly id: string }) {
  const [hops, setHops] = useState<readonly TestHop[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function test() {
    setBusy(true);
    setHops(null);
    try {
      setHops(await engine.clients.test({ id }));
      setProblem(null);
    } catch (error) {
      setProblem(problemOf(error));
    } finally {
      setBusy(false);
    }
  }

  return (
    <section aria-labelledby="client-test" className="clients-group">
      <h2 id="client-test">Test</h2>
      <p className="muted">Sends one event that is marked as a test.</p>
      <div><Button disabled={busy} onClick={() => void test()}>{busy ? 'Testing...' : 'Test'}</Button></div>
      <div role="status">
        {problem && <p className="field-problem">{problem}</p>}
        {hops && (
          <ol role="list" className="clients-list">
            {hops.map(({ hop, ok, sentence }) => (
              <li key={hop} className="hop">
                <Badge kind={ok === null ? 'quiet' : ok ? 'ok' : 'problem'} text={ok === null ? "Can't tell" : ok ? 'Yes' : 'No'} />
                <span><PersonName text={sentence} whole /></span>
              </li>
            ))}
          </ol>
        )}
      </div>
    </section>
  );
}
