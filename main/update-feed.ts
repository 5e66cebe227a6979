import type { UpdateSource } from './updates.ts';

declare const BELFRY_FEED: string;

/** A child of the app would have its disk access, and the updater asks `sysctl` and `uname` by name: only the system's are found. */
const SYSTEM_PATH = '/usr/bin:/bin:/usr/sbin:/sbin';

/**
 * The feed that the build was made for, read by electron-updater: an https address whose `latest-mac.yml` names the archive
 * and its SHA-512. macOS refuses an archive that another team signed. Null where the build has no feed: the updater is not
 * in it then.
 */
export async function updateFeed(log: (line: string) => void): Promise<UpdateSource | null> {
  if (BELFRY_FEED === '') return null;
  process.env['PATH'] = SYSTEM_PATH;
  const { MacUpdater } = await import('electron-updater');
  const updater = new MacUpdater({ provider: 'generic', url: BELFRY_FEED });
  updater.logger = null;
  // Fetched when newer, put in place only when the owner says so.
  updater.autoDownload = true;
  updater.autoInstallOnAppQuit = false;
  updater.allowDowngrade = false;
  // Rejections come back from the call as well.
  updater.on('error', (error) => log(`update: ${error.name}`));
  return {
    async fetch() {
      const found = await updater.checkForUpdates();
      if (!found?.isUpdateAvailable) return null;
      await found.downloadPromise;
      return found.updateInfo.version;
    },
    install: () => updater.quitAndInstall(),
  };
}
