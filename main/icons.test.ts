import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { inflateSync } from 'node:zlib';
import { expect, test } from 'vitest';
import type { HealthIcon } from '../app/contract/health.ts';
import { iconFile } from './tray.ts';

const resource = (name: string) => readFileSync(fileURLToPath(new URL(`../resources/${name}`, import.meta.url)));
const ICONS: readonly HealthIcon[] = ['off', 'attention', 'stopped', 'paused', 'watching', 'listening'];

/** Pixels of a PNG as Chromium writes them: 8 bits, RGBA, not interlaced. */
function pixels(png: Buffer): { size: [number, number]; rgba: Buffer } {
  const size: [number, number] = [png.readUInt32BE(16), png.readUInt32BE(20)];
  expect([...png.subarray(24, 29)]).toEqual([8, 6, 0, 0, 0]);
  const data: Buffer[] = [];
  for (let at = 8; at < png.length; at += 12 + png.readUInt32BE(at)) {
    if (png.toString('latin1', at + 4, at + 8) === 'IDAT') data.push(png.subarray(at + 8, at + 8 + png.readUInt32BE(at)));
  }
  const raw = inflateSync(Buffer.concat(data));
  const row = size[0] * 4;
  const rgba = Buffer.alloc(row * size[1]);
  for (let y = 0; y < size[1]; y += 1) {
    const filter = raw[y * (row + 1)]!;
    for (let x = 0; x < row; x += 1) {
      const [left, up, corner] = [x < 4 ? 0 : rgba[y * row + x - 4]!, y === 0 ? 0 : rgba[(y - 1) * row + x]!, x < 4 || y === 0 ? 0 : rgba[(y - 1) * row + x - 4]!];
      const guess = left + up - corner;
      const [a, b, c] = [Math.abs(guess - left), Math.abs(guess - up), Math.abs(guess - corner)];
      const paeth = a <= b && a <= c ? left : b <= c ? up : corner;
      rgba[y * row + x] = (raw[y * (row + 1) + 1 + x]! + [0, left, up, (left + up) >> 1, paeth][filter]!) & 255;
    }
  }
  return { size, rgba };
}

test.each(ICONS)('%s is a template image: black and alpha, 16 px and twice that', (icon) => {
  for (const [file, size] of [[iconFile(icon), 16], [iconFile(icon).replace('.png', '@2x.png'), 32]] as const) {
    const { size: found, rgba } = pixels(resource(`tray/${file}`));
    expect(found).toEqual([size, size]);
    let drawn = 0;
    for (let at = 0; at < rgba.length; at += 4) {
      if (rgba[at + 3] === 0) continue;
      drawn += 1;
      expect([rgba[at], rgba[at + 1], rgba[at + 2]]).toEqual([0, 0, 0]);
    }
    expect(drawn).toBeGreaterThan(size);
  }
});

test('shape alone tells the icons apart', () => {
  expect(new Set(ICONS.map((icon) => pixels(resource(`tray/${iconFile(icon)}`)).rgba.toString('hex'))).size).toBe(ICONS.length);
});

test('the app icon holds a PNG of the right size for each entry', () => {
  const icns = resource('icon.icns');
  expect(icns.toString('latin1', 0, 4)).toBe('icns');
  expect(icns.readUInt32BE(4)).toBe(icns.length);
  const found: [string, number][] = [];
  for (let at = 8; at < icns.length; at += icns.readUInt32BE(at + 4)) found.push([icns.toString('latin1', at, at + 4), icns.readUInt32BE(at + 24)]);
  expect(found).toEqual([['icp4', 16], ['icp5', 32], ['ic07', 128], ['ic08', 256], ['ic09', 512], ['ic10', 1024], ['ic11', 32], ['ic12', 64], ['ic13', 256], ['ic14', 512]]);
});
