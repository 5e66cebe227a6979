// Finds a Chromium for the browser tests, or installs Debian's where that is possible.
import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';

const PLACES = ['/usr/bin/chromium', '/usr/bin/chromium-browser', '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome'];

/** Path of a browser, or null after a line that says what is skipped and why. */
export function ensureChromium(say) {
  const found = () => PLACES.find((path) => existsSync(path)) ?? null;
  if (found()) return found();
  if (process.platform === 'linux' && process.getuid?.() === 0 && existsSync('/usr/bin/apt-get')) {
    say('setup: installing Debian\'s chromium for the browser tests');
    const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' };
    spawnSync('apt-get', ['update', '-q'], { env, stdio: 'ignore' });
    spawnSync('apt-get', ['install', '-y', '-q', '--no-install-recommends', 'chromium'], { env, stdio: 'ignore' });
  }
  if (!found()) say('skipped: browser tests (no Chromium here, and it cannot be installed without root and apt)');
  return found();
}
