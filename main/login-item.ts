import type { App } from 'electron';
import type { ShellState } from '../app/contract/shell.ts';

type LoginApp = Pick<App, 'getLoginItemSettings' | 'setLoginItemSettings'>;

/** The system's own answer, asked each time: the owner may have changed it in System Settings. */
export function loginItemOf(app: LoginApp, platform: NodeJS.Platform): ShellState['loginItem'] {
  if (platform !== 'darwin') return 'unknown';
  switch (app.getLoginItemSettings().status) {
    case 'enabled':
      return 'enabled';
    case 'requires-approval':
      return 'requires-approval';
    case 'not-registered':
    case 'not-found':
      return 'off';
    default:
      return 'unknown';
  }
}

/** @returns what the system made of it */
export function setLoginItem(app: LoginApp, platform: NodeJS.Platform, openAtLogin: boolean): ShellState['loginItem'] {
  if (platform === 'darwin') app.setLoginItemSettings({ openAtLogin });
  return loginItemOf(app, platform);
}

export const APPROVE_LOGIN_ITEM = 'Allow Belfry in System Settings > General > Login Items.';
