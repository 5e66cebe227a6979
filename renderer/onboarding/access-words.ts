import type { ShellState } from '../../app/contract/shell.ts';
import type { Access } from '../../app/contract/values.ts';

export type AccessStepId = 'waiting' | 'restarting' | 'reopen' | 'granted' | 'cant-tell';

export interface AccessStep {
  readonly id: AccessStepId;
  /** What the line of state says. */
  readonly sentence: string;
  /** Facts that stand beside it. */
  readonly notes: readonly string[];
  /** Settings has been open for 30 s and nothing came of it. */
  readonly hint: string | null;
}

const HINT_MS = 30_000;
export const ADMINISTRATOR = 'An administrator has to allow this.';

/** The table of ui.md, Full Disk Access. @param access null before the first look @param now Unix ms */
export function accessStep(access: Access | null, shell: Pick<ShellState, 'engine' | 'needsReopen' | 'signature' | 'settingsOpenedAt' | 'kind' | 'needsAdministrator'>, now: number): AccessStep {
  const stores = access === null ? [] : [{ name: 'Mail', ...access.mail }, { name: 'Messages', ...access.messages }];
  const readable = stores.filter(({ state }) => state === 'readable').map(({ name }) => name);
  const denied = stores.some(({ state }) => state === 'denied');
  const missing = stores.filter(({ state }) => state === 'missing').map(({ name }) => name);
  const notes = missing.length < 2 ? missing.map((name) => `${name} hasn't been used on this Mac.`) : [];
  if (shell.kind === 'app' && shell.signature === 'unsigned') notes.push("This build isn't signed, so macOS may ignore or forget the permission after an update.");
  if (denied && !shell.needsReopen && shell.needsAdministrator === true) notes.push(ADMINISTRATOR);
  const step = (id: AccessStepId, sentence: string, hint: string | null = null): AccessStep => ({ id, sentence, notes, hint });

  if (denied && shell.needsReopen) return step('reopen', 'Access is on. Reopen Belfry to use it.');
  if (shell.engine !== 'running' && shell.engine !== 'stopped') return step('restarting', 'Access may be on. Belfry is looking again.');
  if (!denied && readable.length > 0) return step('granted', `Belfry can read ${readable.join(' and ')}.`);
  if (!denied && missing.length === 2) return step('cant-tell', "Can't tell: neither Mail nor Messages has been used on this Mac.");
  const waited = shell.settingsOpenedAt !== null && now - shell.settingsOpenedAt >= HINT_MS;
  return step('waiting', 'Waiting. This page updates by itself.', waited ? 'Already on? Select Belfry in the list, remove it with the minus button, then add it again.' : null);
}
