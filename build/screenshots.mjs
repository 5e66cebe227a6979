// Pictures of the page for the README, from fixtures, whose clock stands at one moment: resources/screenshots/<name>-<theme>.png.
import { mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startHarness } from '../renderer/testing/page.ts';
import { ensureChromium } from './chromium.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const folder = join(root, 'resources', 'screenshots');

const PICTURES = [
  { name: 'panel', view: 'panel', fixture: 'many-clients', scale: 2 },
  { name: 'live', view: 'window', screen: 'live', fixture: 'listening', height: 540, scale: 1.25 },
  { name: 'clients', view: 'window', screen: 'clients', fixture: 'texts-waiting', height: 660, scale: 1.25 },
  { name: 'senders', view: 'window', screen: 'senders', fixture: 'listening', height: 540, scale: 1.25 },
];

const chromium = ensureChromium((line) => process.stderr.write(`${line}\n`));
if (chromium) process.env.BELFRY_CHROMIUM ??= chromium;
mkdirSync(folder, { recursive: true });
const harness = await startHarness();
try {
  for (const { name, ...options } of PICTURES) {
    for (const theme of ['light', 'dark']) {
      const { page, errors } = await harness.open({ ...options, theme });
      if (errors.length > 0) throw new Error(`${name}: ${errors.join('; ')}`);
      const path = join(folder, `${name}-${theme}.png`);
      // The panel is as high as its content.
      await (options.view === 'panel' ? page.locator('.app') : page).screenshot({ path, animations: 'disabled', caret: 'hide' });
      process.stdout.write(`${path.slice(root.length + 1)} ${Math.round(statSync(path).size / 1024)} KB\n`);
      await page.context().close();
    }
  }
} finally {
  await harness.close();
}
