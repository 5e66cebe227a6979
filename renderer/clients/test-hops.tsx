import { useState } from 'react';
import type { TestHop } from '../../app/contract/values.ts';
import { Badge } from '../parts/badge.tsx';
import { PersonName } from '../parts/person-name.tsx';
import { problemOf } from '../stores/notice-store.ts';
import { engine } from '../stores/engine-store.ts';

export interface ClientTest {
  readonly hops: readonly TestHop[] | null;
  readonly problem: string | null;
  readonly busy: boolean;
  readonly start: () => Promise<void>;
}

/** Sends one event that is marked as a test. */
export function useClientTest(id: string): ClientTest {
  const [hops, setHops] = useState<readonly TestHop[] | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);

  async function start() {
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

  return { hops, problem, busy, start };
}

/** How far the test came. The place is there before the answer, so that it is read out. */
export function TestHops({ test: { hops, problem } }: { readonly test: ClientTest }) {
  return (
    <div role="status" className="client-test">
      {problem && <p className="field-problem">{problem}</p>}
      {hops && (
        <section aria-labelledby="client-test" className="clients-group">
          <h2 id="client-test">Test event</h2>
          <ol role="list" className="clients-list">
            {hops.map(({ hop, ok, sentence }) => (
              <li key={hop} className="hop">
                <Badge kind={ok === null ? 'quiet' : ok ? 'ok' : 'problem'} text={ok === null ? "Can't tell" : ok ? 'Yes' : 'No'} />
                <span><PersonName text={sentence} whole /></span>
              </li>
            ))}
          </ol>
        </section>
      )}
    </div>
  );
}
