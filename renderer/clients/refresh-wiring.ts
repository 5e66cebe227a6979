import { run } from '../stores/notice-store.ts';
import { shell, useShell } from '../stores/shell-store.ts';

/** Has the settings files of other programs read again. */
export function refreshWiring(): void {
  void run(shell().wiring.list({})).then((wiring) => {
    if (wiring) useShell.setState(({ state }) => ({ state: state && { ...state, wiring } }));
  });
}
