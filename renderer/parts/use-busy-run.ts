import { useState } from 'react';
import { run } from '../stores/notice-store.ts';

/** `run`, and whether a call is under way: a button that was pressed is not pressed twice. `attempt` gives whether it worked. */
export function useBusyRun() {
  const [busy, setBusy] = useState(false);
  async function attempt(call: Promise<unknown>): Promise<boolean> {
    setBusy(true);
    const value = await run(call);
    setBusy(false);
    return value !== null;
  }
  return { attempt, busy };
}
