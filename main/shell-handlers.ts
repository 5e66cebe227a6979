import { readFileSync, statSync, writeFileSync } from 'node:fs';
import { basename } from 'node:path';
import { clipboard, dialog } from 'electron';
import type { Section, ShellHandlers, ShellState } from '../app/contract/shell.ts';
import { MAX_SETTINGS_BYTES, SETTINGS_TOO_LARGE, SETTINGS_UNREADABLE, type PickedSettings } from '../app/contract/values.ts';
import type { AccessWatch } from './access.ts';
import type { CommandLinkEnv } from './command-link.ts';
import { installCommandLink, previewCommandLink } from './command-link.ts';
import { APPROVE_LOGIN_ITEM } from './login-item.ts';
import type { PreferencesStore } from './preferences.ts';
import { shellDiagnostics, type ReportFacts } from './report.ts';
import { act, type ActionDelegate } from './shell-actions.ts';
import { uninstall, uninstallPreview, type UninstallEnv } from './uninstall.ts';
import type { WiringDesk } from './wiring-desk.ts';

export interface ShellDesk {
  state(): ShellState;
  readonly preferences: PreferencesStore;
  readonly actions: ActionDelegate;
  readonly access: Pick<AccessWatch, 'fresh'>;
  readonly wiring: WiringDesk;
  readonly commandLink: CommandLinkEnv;
  readonly uninstall: UninstallEnv;
  open(section: Section | 'onboarding'): void;
  resizePanel(height: number): void;
  reportFacts(): Promise<ReportFacts>;
  /** The data is gone: the owner is told what was done, the app is shown in Finder and quits. */
  uninstalled(lines: readonly string[]): void;
}

/** What a page of ours may ask of the app: the `shell` schema, the same for every window. */
export function shellHandlers(desk: ShellDesk): ShellHandlers {
  return {
    shell: {
      state: () => desk.state(),
      act: ({ action }) => act(action, desk.actions),
      open: ({ section }) => {
        desk.open(section);
        return null;
      },
      resizePanel: ({ height }) => {
        desk.resizePanel(height);
        return null;
      },
      copy: async ({ text }) => {
        await clipboard.writeText(text);
        return null;
      },
      setPreference: ({ key, value }) => {
        const change = desk.preferences.set(key, value);
        if (!change.ok) return { ok: false, code: 'invalid', message: change.sentence };
        const waits = key === 'openAtLogin' && value === true && desk.state().loginItem === 'requires-approval';
        return { ok: true, changed: change.changed, sentence: waits ? APPROVE_LOGIN_ITEM : 'Saved.' };
      },
      save: async ({ name, text }) => {
        // A name only, never a path: the owner chooses the folder.
        const { canceled, filePath } = await dialog.showSaveDialog({ defaultPath: basename(name) });
        if (canceled || !filePath) return { ok: false, code: 'nothing', message: 'Nothing was saved.' };
        try {
          writeFileSync(filePath, text, { mode: 0o600 });
        } catch {
          return { ok: false, code: 'not-written', message: "Couldn't save the file. Its folder can't be written to." };
        }
        return { ok: true, changed: true, sentence: `Saved as ${basename(filePath)}.` };
      },
      pickSettings: async () => {
        const { canceled, filePaths: [path] } = await dialog.showOpenDialog({ properties: ['openFile'], filters: [{ name: 'JSON', extensions: ['json'] }] });
        if (canceled || path === undefined) return { ok: true, json: null };
        return settingsOf(path);
      },
      diagnostics: async () => shellDiagnostics(await desk.reportFacts()),
      probeFresh: async () => ({ readable: await desk.access.fresh() }),
    },
    wiring: desk.wiring.handlers(),
    command: {
      preview: () => previewCommandLink(desk.commandLink),
      install: () => installCommandLink(desk.commandLink),
    },
    uninstall: {
      preview: () => uninstallPreview(desk.uninstall),
      run: async () => {
        const lines = await uninstall(desk.uninstall);
        desk.uninstalled(lines);
        return lines;
      },
    },
  };
}

/** Its size is looked at before it is read. */
function settingsOf(path: string): PickedSettings {
  try {
    const found = statSync(path);
    if (!found.isFile()) return SETTINGS_UNREADABLE;
    return found.size > MAX_SETTINGS_BYTES ? SETTINGS_TOO_LARGE : { ok: true, json: readFileSync(path, 'utf8') };
  } catch {
    return SETTINGS_UNREADABLE;
  }
}
