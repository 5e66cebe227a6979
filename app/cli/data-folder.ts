import { homedir } from 'node:os';
import { join } from 'node:path';

/** Where everything of Belfry lives unless `--data-dir` says otherwise (architecture 2). */
export function defaultDataDir(env: NodeJS.ProcessEnv = process.env, platform: NodeJS.Platform = process.platform): string {
  if (platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'Belfry');
  return join(env['XDG_DATA_HOME'] || join(homedir(), '.local', 'share'), 'belfry');
}

export const socketPathOf = (dataDir: string) => join(dataDir, 'run', 'engine.sock');
