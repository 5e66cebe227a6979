import { readFileSync } from 'node:fs';

/** Where macOS lays out what a configuration profile says of privacy permissions; readable by everyone, absent where none does. */
export const PRIVACY_POLICY = '/Library/Managed Preferences/com.apple.TCC.configuration-profile-policy.plist';

/** The group of those who may turn Full Disk Access on, by a number that macOS never changes. */
const ADMIN_GROUP = 80;
/** The system tells so many groups at most, so that a full list proves nothing. */
const MAX_GROUPS = 16;

export interface AdministratorFacts {
  readonly platform: NodeJS.Platform;
  /** Ids of the groups that this process is in. */
  readonly groups: readonly number[];
  /** What a profile says of privacy permissions, as it lies on disk; null: no profile does. */
  readonly policy: string | null;
  readonly bundleId: string;
}

/**
 * Whether only an administrator can give access while it is denied (ui.md, Full Disk Access). Known to be so where a profile
 * names this app, and where the account is none of an administrator. A profile that speaks of other apps leaves the switch to
 * the owner, so it says nothing. Null: can't tell.
 */
export function needsAdministrator({ platform, groups, policy, bundleId }: AdministratorFacts): boolean | null {
  if (platform !== 'darwin') return null;
  if (policy !== null && names(policy, bundleId)) return true;
  if (groups.includes(ADMIN_GROUP)) return false;
  return groups.length < MAX_GROUPS ? true : null;
}

/** Both forms of a property list hold a plain name as it is. A longer name that begins with it is another app's. */
const names = (policy: string, bundleId: string): boolean => policy.split(bundleId).slice(1).some((after) => !/^[.-]/.test(after));

/** Read on every look, since a profile comes and goes. @returns null where there is none or it can't be read */
export function readPrivacyPolicy(path = PRIVACY_POLICY): string | null {
  try {
    return readFileSync(path, 'latin1');
  } catch {
    return null;
  }
}
