// Types only: the command line speaks of changes and of policy's state, and imports nothing of policy.
export type { AllowOptions, Change, Outcome, SenderOptions } from '../policy/change.ts';
export type { PolicySnapshot } from '../policy/snapshot.ts';
