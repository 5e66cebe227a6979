import { homedir } from 'node:os';
import { join } from 'node:path';

declare const BELFRY_TEAM: string | undefined;

/** A build without our team has its own folder on a Mac, so that it and an installed app never share one. */
export const MAC_FOLDER = typeof BELFRY_TEAM === 'string' && BELFRY_TEAM !== '' ? 'Belfry' : 'Belfry Development';

/** Where everything of Belfry lives unless `--data-dir` says otherwise (architecture 2). */
export function defaultDataDir(env: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', MAC_FOLDER);
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'belfry');
}

export const socketPathOf = (dataDir: string) => join(dataDir, 'run', 'engine.sock');
