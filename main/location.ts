import type { ShellState } from '../app/contract/shell.ts';

export interface PlaceFacts {
  readonly packaged: boolean;
  readonly platform: NodeJS.Platform;
  /** Of the app's executable. */
  readonly path: string;
  /** As the system says it: `/Applications` or the user's own. */
  readonly inApplications: boolean;
}

/**
 * Where the app runs from. A translocated copy has a random read-only path that goes when it quits; one on a disk image
 * goes with the image. Settings of clients that name such a path would stop working.
 */
export function locationOf({ packaged, platform, path, inApplications }: PlaceFacts): ShellState['location'] {
  if (!packaged || platform !== 'darwin') return 'unpackaged';
  if (path.includes('/AppTranslocation/')) return 'translocated';
  if (path.startsWith('/Volumes/')) return 'disk-image';
  return inApplications ? 'ok' : 'outside-applications';
}

/** `/Applications/Belfry.app` of `/Applications/Belfry.app/Contents/MacOS/Belfry`; null outside a bundle. */
export function bundleOf(executable: string): string | null {
  const end = executable.lastIndexOf('.app/Contents/MacOS/');
  return end < 0 ? null : executable.slice(0, end + 4);
}
