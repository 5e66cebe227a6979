import type { PowerMonitor } from 'electron';

/** After sleep and after a locked screen everything may be different: stores, permission, time. */
export function onWake(monitor: Pick<PowerMonitor, 'on'>, wake: () => void): void {
  monitor.on('resume', wake);
  monitor.on('unlock-screen', wake);
}

/** Told at once whether the Mac runs on battery, and each time that changes. */
export function onPower(monitor: Pick<PowerMonitor, 'on' | 'isOnBatteryPower'>, tell: (onBattery: boolean) => void): void {
  monitor.on('on-battery', () => tell(true));
  monitor.on('on-ac', () => tell(false));
  tell(monitor.isOnBatteryPower());
}
