import { preferences, type Preferences, type ShellHandlers, type ShellState } from '../contract/shell.ts';
import type { ContractOutcome } from '../contract/values.ts';
import { posixQuote } from '../wiring/posix-quote.ts';
import { listWirings, WiringDesk, type WiringEnv } from '../wiring/wiring.ts';
import type { ShellNotify } from './page-session.ts';
import { version } from './version.ts';

const APP_ONLY = 'This needs the Belfry app on a Mac.';
const NO_HELPER = 'The helper was not built. Run "npm run build" first.';
const refused = (message: string): ContractOutcome => ({ ok: false, code: 'refused', message });
const done = (sentence: string): ContractOutcome => ({ ok: true, changed: true, sentence });

/** Of a page in a browser: kept for as long as the engine runs, for all its pages. */
function browserPreferences(): Preferences {
  return {
    onboarding: 'done', openAtLogin: false, showIcon: false, clickOpens: 'panel', alertAccessLost: false, alertEngineStopped: false, alertClientAsks: false,
    alertNotDelivered: false, alertUpdateReady: false, automaticUpdates: false, openMailAtLogin: false, hideDetails: false,
  };
}

export interface BrowserShellOptions {
  /** Where settings files of other programs are looked for; null where no helper was built that they could start. */
  readonly wiring: WiringEnv | null;
  /** Of an engine on a data folder of its own: entries need its socket to find it. Null for the usual folder. */
  readonly socketPath: string | null;
}

/** What all pages of one engine share. */
export class BrowserShell {
  readonly options: BrowserShellOptions;
  readonly desk = new WiringDesk();
  preferences = browserPreferences();

  constructor(options: BrowserShellOptions) {
    this.options = options;
  }
}

/**
 * What stands in for the menu-bar app where a browser shows the page of a headless engine: what only a Mac's app can do
 * says so, what a browser does itself is left to it.
 */
export function browserShell(shared: BrowserShell, notify: ShellNotify): ShellHandlers {
  const { wiring: env, socketPath } = shared.options;
  // A browser opens no program.
  const rows = () => (env === null ? [] : listWirings(env).map((row) => ({ ...row, canOpen: false })));
  const state = (): ShellState => ({
    kind: 'browser', version, shim: env?.shim ?? null, shimWord: env ? posixQuote(env.shim) : null, engine: 'running', restarts: 0, location: 'unpackaged', otherCopy: false, signature: 'unknown', team: null,
    needsReopen: false, needsAdministrator: null, settingsOpenedAt: null, iconOnScreen: null, loginItem: 'unknown', update: { state: 'off', version: null },
    preferences: shared.preferences, wiring: rows(),
  });
  const prefer = (key: keyof Preferences, value: unknown): ContractOutcome => {
    const parsed = preferences.safeParse({ ...shared.preferences, [key]: value });
    if (!parsed.success) return { ok: false, code: 'invalid', message: `${key} can't have this value.` };
    shared.preferences = parsed.data;
    notify('state', { preferences: parsed.data });
    return done('Kept while the engine runs.');
  };
  return {
    shell: {
      state,
      act: ({ action }) => {
        if (action === 'finish-onboarding') return prefer('onboarding', 'done');
        if (action === 'close-panel') return done('');
        return refused(action === 'quit' || action === 'restart-engine' ? 'This engine is stopped and started where "belfry serve" was run.' : APP_ONLY);
      },
      open: ({ section }) => {
        if (section !== 'onboarding') notify('navigate', { section });
        return null;
      },
      resizePanel: () => null,
      copy: () => null,
      setPreference: ({ key, value }) => prefer(key, value),
      save: () => refused('The browser saves this file itself.'),
      pickSettings: () => ({ ok: false, code: 'refused', message: 'The browser reads this file itself.' }),
      diagnostics: () => [{ id: 'shell', title: 'Window', state: 'ok', evidence: 'a browser on this computer; the engine runs headless', fix: null }],
      probeFresh: () => ({ readable: null }),
    },
    wiring: {
      list: rows,
      preview: ({ id, change, name }) => {
        if (env === null) return { ok: false, message: NO_HELPER, snippet: null };
        const shown = shared.desk.preview(env, id, change, name);
        if (!shown.ok || socketPath === null || change === 'remove') return shown;
        return { ...shown, sentence: [shown.sentence, `This engine has a data folder of its own: add "--socket" and "${socketPath}" to args.`].filter(Boolean).join(' ') };
      },
      apply: ({ token }) => {
        if (env === null) return refused(NO_HELPER);
        const outcome = shared.desk.apply(env, token);
        notify('state', { wiring: rows() });
        return outcome;
      },
      show: () => refused(APP_ONLY),
      open: () => refused(APP_ONLY),
      openLink: () => refused('Links are opened by the app only. Copy the settings instead.'),
    },
    command: {
      preview: () => ({ target: env?.shim ?? '', link: '', exists: 'no', sentence: 'Only the app puts "belfry" on the PATH.' }),
      install: () => refused(APP_ONLY),
    },
    uninstall: { preview: () => [], run: () => [] },
  } satisfies ShellHandlers;
}
