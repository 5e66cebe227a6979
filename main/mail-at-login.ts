import { execFile } from 'node:child_process';

/** Fixed: `launch` starts Mail without bringing it to the front or opening a window. */
const SCRIPT = 'launch application "Mail"';

/** New mail reaches this Mac only while Mail runs. @param log one line if it did not work */
export function openMailHidden(log: (line: string) => void): void {
  execFile('/usr/bin/osascript', ['-e', SCRIPT], { timeout: 30_000, env: {} }, (error) => {
    if (error) log('Mail could not be opened at login');
  });
}
