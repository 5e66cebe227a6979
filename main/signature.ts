import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ShellState } from '../app/contract/shell.ts';

declare const BELFRY_TEAM: string | undefined;

/** The team that a release was built for: put in by the bundler, absent from every other build. */
export const builtTeam: string | null = typeof BELFRY_TEAM === 'string' && BELFRY_TEAM !== '' ? BELFRY_TEAM : null;

/** The app's name, its folder's and its bundle's: a build without our team is another app to macOS. */
export const productName = builtTeam === null ? 'Belfry Development' : 'Belfry';

export const bundleId = builtTeam === null ? 'dev.belfry.Belfry.development' : 'dev.belfry.Belfry';

/**
 * By what the build says of itself and by the seal that signing leaves in the bundle. Whether it is valid was macOS's to
 * check when the app started.
 */
export function signatureOf(bundle: string | null, platform: NodeJS.Platform, team = builtTeam): Pick<ShellState, 'signature' | 'team'> {
  if (platform !== 'darwin') return { signature: 'unknown', team: null };
  const sealed = bundle !== null && existsSync(join(bundle, 'Contents', '_CodeSignature', 'CodeResources'));
  return sealed && team !== null ? { signature: 'developer-id', team } : { signature: 'unsigned', team: null };
}
