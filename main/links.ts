import { shell } from 'electron';

/** Everything that is ever opened outside: nothing comes from a page. */
export const LINKS = {
  fullDiskAccess: 'x-apple.systempreferences:com.apple.settings.PrivacySecurity.extension?Privacy_AllFiles',
  menuBar: 'x-apple.systempreferences:com.apple.MenuBarSettings',
  loginItems: 'x-apple.systempreferences:com.apple.LoginItems-Settings.extension',
  notifications: 'x-apple.systempreferences:com.apple.Notifications-Settings.extension',
} as const;
export type Link = keyof typeof LINKS;

/** Apple's own programs, opened by the system and not as children of ours. */
export const PROGRAMS = { mail: '/System/Applications/Mail.app', messages: '/System/Applications/Messages.app' } as const;

/** @returns whether the system took it */
export async function openLink(link: Link): Promise<boolean> {
  return shell.openExternal(LINKS[link]).then(() => true, () => false);
}

export async function openProgram(program: keyof typeof PROGRAMS): Promise<boolean> {
  return (await shell.openPath(PROGRAMS[program])) === '';
}
