import type { EngineSettings } from '../app/engine/host.ts';
import type { ProbeMessage } from '../app/engine/process.ts';
import type { Clock } from './clock.ts';
import type { StartEngineProcess } from './engine-process.ts';

const LIMIT_MS = 10_000;

/** Lets a process that starts now read 16 bytes of each store. @returns null if it can't tell */
export function probeFresh(spawn: StartEngineProcess, settings: EngineSettings, clock: Clock): Promise<boolean | null> {
  return new Promise((resolve) => {
    const child = spawn('fresh look');
    let found: boolean | null = null;
    const cancel = clock.after(LIMIT_MS, () => child.kill());
    child.port.onMessage((value) => {
      const { probed } = value as { probed?: boolean | null };
      if (probed !== undefined) found = probed;
    });
    child.onExit(() => {
      cancel();
      resolve(found);
    });
    child.port.postMessage({ probe: settings } satisfies ProbeMessage);
  });
}
