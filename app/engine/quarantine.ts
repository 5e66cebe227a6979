import { randomUUID } from 'node:crypto';
import { createRequire } from 'node:module';

interface Addon {
  setFileAttribute(fd: number, name: string, value: string): boolean;
}

/** What macOS asks about before it opens a file for the first time. */
export const QUARANTINE = 'com.apple.quarantine';
/** Downloaded, by a program that is in no sandbox; nobody has agreed to open it yet. */
const FLAGS = '0081';

/** Flags, seconds since 1970 in hex, who brought it, and an id of its own. @param now Unix ms */
export const quarantineValue = (now: number): string => `${FLAGS};${Math.floor(now / 1000).toString(16)};Belfry;${randomUUID().toUpperCase()}`;

/**
 * Marks open files as from outside, as Mail does with what it saves: no program is started for it, so by the addon.
 * The function is false where it could not. @param addonPath `peer-identity.node`
 */
export function fileMarker(addonPath: string, now: () => number, name: string = QUARANTINE): (fd: number) => boolean {
  const addon = createRequire(import.meta.url)(addonPath) as Addon;
  return (fd) => addon.setFileAttribute(fd, name, quarantineValue(now()));
}
