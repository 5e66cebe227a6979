import { accessSync, constants } from 'node:fs';
import { connect } from 'node:net';
import type { ShellState } from '../app/contract/shell.ts';
import type { DiagnosticRow } from '../app/contract/values.ts';
import type { Clock } from './clock.ts';
import { APPROVE_LOGIN_ITEM } from './login-item.ts';

export interface ReportFacts {
  readonly state: ShellState;
  /** Of the bundle, or of the executable outside of one. */
  readonly bundle: string;
  readonly sealSentence: string | null;
  readonly engineSentence: string | null;
  readonly preferencesState: string;
  readonly helper: HelperAnswer;
}

export type HelperAnswer =
  | { readonly kind: 'none' | 'not-runnable' | 'no-engine' | 'silent' }
  | { readonly kind: 'answered'; readonly ms: number };

const HELPER_LIMIT_MS = 5000;

/** The shell's own rows. Each with evidence and one fix; no names, addresses, subjects or file contents. */
export function shellDiagnostics(facts: ReportFacts): DiagnosticRow[] {
  return [locationRow(facts), signatureRow(facts.state), hostRow(facts), helperRow(facts.helper), iconRow(facts.state), loginItemRow(facts.state), sealRow(facts), preferencesRow(facts)];
}

type RowBody = Pick<DiagnosticRow, 'state' | 'evidence' | 'fix'>;
const ok = (evidence: string): RowBody => ({ state: 'ok', evidence, fix: null });
const cantCheck = (evidence: string): RowBody => ({ state: 'cant-check', evidence, fix: null });
const warning = (evidence: string, fix: string | null): RowBody => ({ state: 'warning', evidence, fix });
const problem = (evidence: string, fix: string | null): RowBody => ({ state: 'problem', evidence, fix });

function locationRow({ state, bundle }: ReportFacts): DiagnosticRow {
  const row = { id: 'location', title: 'Location' };
  switch (state.location) {
    case 'ok':
      return { ...row, ...ok(bundle) };
    case 'unpackaged':
      return { ...row, ...cantCheck('a development build') };
    case 'translocated':
      return { ...row, ...problem('macOS runs it from a temporary copy', 'Move Belfry to Applications.') };
    case 'disk-image':
      return { ...row, ...problem('it runs from a disk image', 'Move Belfry to Applications.') };
    case 'outside-applications':
      return { ...row, ...problem('it runs from outside Applications', 'Move Belfry to Applications.') };
  }
}

function signatureRow({ signature, team }: ShellState): DiagnosticRow {
  const row = { id: 'signature', title: 'Signature' };
  if (signature === 'developer-id') return { ...row, ...ok(`Developer ID, team ${team ?? 'unknown'}`) };
  if (signature === 'unknown') return { ...row, ...cantCheck('signatures are checked on a Mac only') };
  return { ...row, ...warning("this build isn't signed with a Developer ID", 'macOS may ignore or forget the permission after an update. Install a signed build.') };
}

function hostRow({ state, engineSentence }: ReportFacts): DiagnosticRow {
  const row = { id: 'engine-process', title: 'Engine process' };
  if (state.engine === 'running') return { ...row, ...(state.restarts === 0 ? ok('running, 0 restarts') : warning(`running, ${state.restarts} restarts`, null)) };
  if (state.engine === 'stopped' || state.otherCopy) return { ...row, ...problem(engineSentence ?? 'stopped', state.otherCopy ? null : 'Restart it.') };
  return { ...row, ...cantCheck(state.engine) };
}

function helperRow(helper: HelperAnswer): DiagnosticRow {
  const row = { id: 'helper', title: 'Helper' };
  switch (helper.kind) {
    case 'answered':
      return { ...row, ...ok(`in place; its socket answered in ${Math.round(helper.ms)} ms`) };
    case 'none':
      return { ...row, ...problem('not found beside the app', 'Install Belfry again.') };
    case 'not-runnable':
      return { ...row, ...problem("it can't be run: its file mode doesn't allow it", 'Install Belfry again.') };
    case 'no-engine':
      return { ...row, ...problem("in place; nothing listens at its socket", 'Restart the engine.') };
    case 'silent':
      return { ...row, ...problem('in place; its socket did not answer in 5 s', 'Restart the engine.') };
  }
}

function iconRow({ iconOnScreen, preferences }: ShellState): DiagnosticRow {
  const row = { id: 'menu-bar-icon', title: 'Menu bar icon' };
  if (!preferences.showIcon) return { ...row, ...ok('turned off in Settings') };
  if (iconOnScreen === null) return { ...row, ...cantCheck('not looked yet, or no menu bar here') };
  // The cause is never asserted: the system does not say it.
  return { ...row, ...(iconOnScreen ? ok('on screen') : warning('not on screen', 'Either the menu bar is full, or Belfry is off in System Settings > Menu Bar.')) };
}

function loginItemRow({ loginItem, preferences }: ShellState): DiagnosticRow {
  const row = { id: 'login-item', title: 'Open at login' };
  if (loginItem === 'unknown') return { ...row, ...cantCheck('the system was not asked') };
  if (loginItem === 'requires-approval') return { ...row, ...warning('waits for approval', APPROVE_LOGIN_ITEM) };
  if (loginItem === 'off' && preferences.openAtLogin) return { ...row, ...warning('chosen here, off in the system', 'Turn it on in System Settings > General > Login Items.') };
  return { ...row, ...ok(loginItem === 'enabled' ? 'on' : 'off') };
}

function sealRow({ sealSentence }: ReportFacts): DiagnosticRow {
  const row = { id: 'seal', title: 'Seal of the settings' };
  return { ...row, ...(sealSentence === null ? ok('its key is kept by the keychain') : warning(sealSentence, null)) };
}

function preferencesRow({ preferencesState }: ReportFacts): DiagnosticRow {
  const row = { id: 'preferences', title: 'Preferences' };
  if (preferencesState === 'broken') return { ...row, ...warning('the file was broken and moved aside; defaults apply', null) };
  if (preferencesState === 'newer') return { ...row, ...warning('written by a newer Belfry; defaults apply and nothing is written', 'Update Belfry.') };
  return { ...row, ...ok(preferencesState === 'fresh' ? 'none written yet' : 'read') };
}

/**
 * Whether a client's helper would get an answer: it is there and may run, and its socket answers a first line, be it with
 * a refusal. The helper itself is not started, since a child of the app would have the app's disk access.
 */
export function askHelper(shim: string | null, socketPath: string | null, version: string, clock: Clock): Promise<HelperAnswer> {
  if (shim === null) return Promise.resolve({ kind: 'none' });
  try {
    accessSync(shim, constants.X_OK);
  } catch {
    return Promise.resolve({ kind: 'not-runnable' });
  }
  if (socketPath === null) return Promise.resolve({ kind: 'no-engine' });
  return new Promise((resolve) => {
    const asked = clock.monotonic();
    const socket = connect(socketPath);
    const done = (answer: HelperAnswer) => {
      cancel();
      socket.destroy();
      resolve(answer);
    };
    const cancel = clock.after(HELPER_LIMIT_MS, () => done({ kind: 'silent' }));
    socket.on('error', () => done({ kind: 'no-engine' }));
    socket.on('connect', () => socket.write(`${JSON.stringify({ protocol: 1, version, mode: 'command', argv: ['--version'] })}\n`));
    socket.on('data', () => done({ kind: 'answered', ms: clock.monotonic() - asked }));
    socket.on('close', () => done({ kind: 'silent' }));
  });
}
