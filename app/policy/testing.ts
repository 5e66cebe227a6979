import { join } from 'node:path';
import type { Clock } from '../events/clock.ts';
import type { MailRow, MessageRow } from '../apple/occurrence.ts';
import type { Occurrence } from '../events/occurrence.ts';
import type { ClientIdentity } from './clients.ts';
import { Policy, type PolicyOptions } from './policy.ts';
import { SettingsStore } from './settings-store.ts';

/** A clock moved by hand; `wall` and `mono` move apart where a test needs it. */
export class HandClock implements Clock {
  wall = 1_800_000_000_000;
  mono = 1000;
  #timers: { at: number; work: () => void }[] = [];

  now(): number {
    return this.wall;
  }
  monotonic(): number {
    return this.mono;
  }
  after(ms: number, work: () => void): () => void {
    const timer = { at: this.mono + ms, work };
    this.#timers.push(timer);
    return () => {
      this.#timers = this.#timers.filter((each) => each !== timer);
    };
  }
  every(): () => void {
    throw new Error('Policy sets no intervals');
  }
  /** Both clocks go on; timers fire in order. */
  pass(ms: number): void {
    const end = this.mono + ms;
    for (;;) {
      const next = this.#timers.filter((each) => each.at <= end).sort((a, b) => a.at - b.at)[0];
      if (!next) break;
      this.#timers = this.#timers.filter((each) => each !== next);
      this.wall += next.at - this.mono;
      this.mono = next.at;
      next.work();
    }
    this.wall += end - this.mono;
    this.mono = end;
  }
}

export const mailFrom = (sender: string): Occurrence => ({
  type: 'mail.received', sender, eventId: `e-${sender}`, timestamp: '', row: { store: 'mail', sender } as MailRow,
});
export const messageFrom = (sender: string, chat: string | null = null): Occurrence => ({
  type: 'messages.received', sender, eventId: `e-${sender}`, timestamp: '',
  row: { store: 'messages', sender, chat: chat === null ? null : { guid: chat } } as MessageRow,
});

export const client = (id: string, more: Partial<ClientIdentity> = {}): ClientIdentity => ({
  id, display: `/opt/${id}`, persistable: true, signed: false, process: { pid: 42, startTime: 't' }, ...more,
});

export function policyIn(folder: string, more: Partial<PolicyOptions> = {}): { policy: Policy; clock: HandClock; file: string; ended: Set<number> } {
  const file = join(folder, 'settings.json');
  const clock = (more.clock as HandClock | undefined) ?? new HandClock();
  const ended = new Set<number>();
  const policy = new Policy({
    settings: new SettingsStore(file, clock.now()), clock, region: 'US', processAlive: ({ pid }) => !ended.has(pid), trustLocalClients: false, ...more,
  });
  return { policy, clock, file, ended };
}
