import { create } from 'zustand';
import type { Bridge } from '../../app/contract/bridge.ts';
import { connectContract, type ContractClient } from '../../app/contract/port.ts';
import { shell as schema, type Preferences, type ShellState } from '../../app/contract/shell.ts';
import { run } from './notice-store.ts';
import { navigate, useView } from './view-store.ts';

interface ShellStore {
  /** Null before the first answer. */
  readonly state: ShellState | null;
}

export const useShell = create<ShellStore>()(() => ({ state: null }));

let client: ContractClient<typeof schema> | null = null;

/** Calls of the shell. A page has one for life, so there is no state without it. */
export function shell(): ContractClient<typeof schema>['call'] {
  if (!client) throw new Error('The shell is not connected.');
  return client.call;
}

export function connectShell(bridge: Bridge): () => void {
  const connected = connectContract(schema, bridge.shell);
  client = connected;
  const early: Partial<ShellState>[] = [];
  connected.on('state', (changed) => {
    const known = Object.fromEntries(Object.entries(changed).filter(([, value]) => value !== undefined)) as Partial<ShellState>;
    const { state } = useShell.getState();
    if (state === null) early.push(known);
    else hold({ ...state, ...known });
  });
  connected.on('navigate', ({ section }) => navigate(section));
  connected.call.shell.state({}).then(
    (state) => hold(Object.assign({}, state, ...early) as ShellState),
    () => undefined,
  );
  return () => connected.close();
}

function hold(state: ShellState): void {
  useShell.setState({ state });
  useView.setState({ hideDetails: state.preferences.hideDetails });
}

export function setPreference<K extends keyof Preferences>(key: K, value: Preferences[K]): Promise<unknown> {
  return run(shell().shell.setPreference({ key, value }));
}

/** Hides or shows names and subjects at once, and remembers it. */
export function setHideDetails(hide: boolean): void {
  useView.setState({ hideDetails: hide });
  void setPreference('hideDetails', hide);
}

/** A preference, or null before the shell has answered. */
export const usePreference = <K extends keyof Preferences>(key: K): Preferences[K] | null => useShell(({ state }) => state?.preferences[key] ?? null);

/** Whether Mac-only things are there: false in a browser, where a sentence stands in their place. */
export const useInApp = (): boolean => useShell(({ state }) => state?.kind === 'app');
