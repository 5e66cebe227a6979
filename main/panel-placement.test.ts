import { expect, test } from 'vitest';
import { displayOf, placePanel, putBack, type DisplayArea } from './panel-placement.ts';

const rect = (x: number, y: number, width: number, height: number) => ({ x, y, width, height });
const laptop: DisplayArea = { bounds: rect(0, 0, 1440, 900), workArea: rect(0, 25, 1440, 800) };
const right: DisplayArea = { bounds: rect(1440, -180, 1920, 1080), workArea: rect(1440, -155, 1920, 1055) };
const left: DisplayArea = { bounds: rect(-1280, 0, 1280, 720), workArea: rect(-1280, 25, 1280, 695) };
const low: DisplayArea = { bounds: rect(0, 0, 800, 300), workArea: rect(0, 25, 800, 275) };
const narrow: DisplayArea = { bounds: rect(0, 0, 320, 600), workArea: rect(0, 25, 320, 575) };

test.each([
  ['under the icon, centred on it', rect(900, 0, 24, 24), [laptop], 300, rect(732, 29, 360, 300)],
  ['kept inside at the right edge', rect(1410, 0, 24, 24), [laptop], 300, rect(1072, 29, 360, 300)],
  ['kept inside at the left edge', rect(4, 0, 24, 24), [laptop], 300, rect(8, 29, 360, 300)],
  ['on the display of the icon, above and right of the main one', rect(2000, -180, 24, 24), [laptop, right], 300, rect(1832, -151, 360, 300)],
  ['on a display left of the main one', rect(-40, 0, 24, 24), [laptop, left], 300, rect(-368, 29, 360, 300)],
  ['at most 560 high', rect(900, 0, 24, 24), [laptop], 2000, rect(732, 29, 360, 560)],
  ['at most as high as there is room under the menu bar', rect(400, 0, 24, 24), [low], 560, rect(232, 29, 360, 263)],
  ['narrower where the screen is', rect(150, 0, 24, 24), [narrow], 300, rect(8, 29, 304, 300)],
  ['above the icon where the bar is at the bottom', rect(900, 830, 24, 24), [laptop], 300, rect(732, 526, 360, 300)],
])('%s', (_name, icon, displays, height, wanted) => {
  expect(placePanel(icon, displays, height)).toEqual(wanted);
});

test.each([
  ['zero-sized', rect(0, 0, 0, 0), [laptop]],
  ['left of every screen', rect(-500, 0, 24, 24), [laptop]],
  ['under every screen, where macOS parks a hidden icon', rect(700, 2000, 24, 24), [laptop, right]],
  ['no screen at all', rect(900, 0, 24, 24), []],
])('no place for a panel: %s', (_name, icon, displays) => {
  expect(placePanel(icon, displays, 300)).toBeNull();
  expect(displayOf(icon, displays)).toBeNull();
});

const MINIMUM = { width: 640, height: 480 };
test.each([
  ['where it was', rect(100, 100, 960, 640), [laptop.workArea], rect(100, 100, 960, 640)],
  ['pushed back from the edge', rect(1300, 700, 960, 640), [laptop.workArea], rect(480, 185, 960, 640)],
  ['never above the menu bar', rect(100, -10, 960, 640), [laptop.workArea], rect(100, 25, 960, 640)],
  ['made smaller for a smaller screen', rect(0, 0, 3000, 2000), [laptop.workArea], rect(0, 25, 1440, 800)],
  ['never smaller than the minimum', rect(100, 100, 200, 100), [laptop.workArea], rect(100, 100, 640, 480)],
  ['on the display that shows most of it', rect(1400, 100, 960, 640), [laptop.workArea, right.workArea], rect(1440, 100, 960, 640)],
])('remembered bounds: %s', (_name, bounds, areas, wanted) => {
  expect(putBack(bounds, areas, MINIMUM)).toEqual(wanted);
});

test('bounds of a display that is gone are forgotten', () => {
  expect(putBack(rect(2000, 100, 960, 640), [laptop.workArea], MINIMUM)).toBeNull();
});
