// Draws resources/icon.icns, the menu bar's template images and the background of the disk image from their SVG sources. Run by hand after a change of a
// source (`node build/icons.mjs`); what it makes is kept in the repository, since a Mac that builds need not have Chromium.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ensureChromium } from './chromium.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const resources = join(root, 'resources');

/** Entries of an icns file that hold a PNG, with its size in px: 16 to 512 points, each also for sharp screens. */
export const ICNS_ENTRIES = [['icp4', 16], ['icp5', 32], ['ic07', 128], ['ic08', 256], ['ic09', 512], ['ic10', 1024], ['ic11', 32], ['ic12', 64], ['ic13', 256], ['ic14', 512]];

/** The container: `icns`, its length, then each entry as type, length and PNG; lengths count their own 8 bytes. */
export function packIcns(entries) {
  const chunk = (type, data) => {
    const head = Buffer.alloc(8);
    head.write(type, 0, 'latin1');
    head.writeUInt32BE(data.length + 8, 4);
    return Buffer.concat([head, data]);
  };
  return chunk('icns', Buffer.concat(entries.map(([type, png]) => chunk(type, png))));
}

async function draw(page, svg, width, height = width) {
  await page.setViewportSize({ width, height });
  await page.setContent(`<style>*{margin:0}svg{display:block;width:${width}px;height:${height}px}</style>${svg}`);
  return page.screenshot({ omitBackground: true, clip: { x: 0, y: 0, width, height } });
}

async function main() {
  const executablePath = ensureChromium((line) => console.error(line));
  if (!executablePath) process.exit(1);
  const { chromium } = await import('playwright-core');
  const browser = await chromium.launch({ executablePath, args: process.getuid?.() === 0 ? ['--no-sandbox'] : [] });
  const page = await browser.newPage();
  const icon = readFileSync(join(resources, 'icon.svg'), 'utf8');
  const sizes = new Map();
  for (const [, size] of ICNS_ENTRIES) if (!sizes.has(size)) sizes.set(size, await draw(page, icon, size));
  writeFileSync(join(resources, 'icon.icns'), packIcns(ICNS_ENTRIES.map(([type, size]) => [type, sizes.get(size)])));
  // What is dragged from the onboarding.
  writeFileSync(join(resources, 'icon.png'), sizes.get(64));
  const tray = join(resources, 'tray');
  for (const name of readdirSync(tray).filter((file) => file.endsWith('.svg'))) {
    const svg = readFileSync(join(tray, name), 'utf8');
    const base = join(tray, name.replace('.svg', 'Template'));
    writeFileSync(`${base}.png`, await draw(page, svg, 16));
    writeFileSync(`${base}@2x.png`, await draw(page, svg, 32));
  }
  const image = readFileSync(join(resources, 'dmg-background.svg'), 'utf8');
  writeFileSync(join(root, 'build', 'dmg-background.png'), await draw(page, image, 540, 360));
  writeFileSync(join(root, 'build', 'dmg-background@2x.png'), await draw(page, image, 1080, 720));
  await browser.close();
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
