import type { PowerMonitor } from 'electron';

/** After sleep and after a locked screen everything may be different: stores, permission, time. */
export function onWake(monitor: Pick<PowerMonitor, 'on'>, wake: () => void): void {
  monitor.on('resume', wake);
  monitor.on('unlock-screen', wake);
}
