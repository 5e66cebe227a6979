/** Rectangles in screen coordinates (device-independent px), as Electron gives them. */
export interface Rect {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}
export interface DisplayArea {
  readonly bounds: Rect;
  /** Without menu bar and Dock. */
  readonly workArea: Rect;
}

export const PANEL_WIDTH = 360;
export const PANEL_MAX_HEIGHT = 560;
const GAP = 4;
const MARGIN = 8;

/** The display that shows the icon, or null if none does: its bounds are zero-sized or lie outside every screen. */
export function displayOf(icon: Rect, displays: readonly DisplayArea[]): DisplayArea | null {
  if (icon.width <= 0 || icon.height <= 0) return null;
  const [x, y] = [icon.x + icon.width / 2, icon.y + icon.height / 2];
  return displays.find(({ bounds }) => x >= bounds.x && x < bounds.x + bounds.width && y >= bounds.y && y < bounds.y + bounds.height) ?? null;
}

/**
 * Where the panel goes: under the icon, centred on it, inside the work area of the icon's display.
 * @param height what the panel's content needs
 * @returns null if the icon is on no screen: then the main window opens instead
 */
export function placePanel(icon: Rect, displays: readonly DisplayArea[], height: number): Rect | null {
  const display = displayOf(icon, displays);
  if (display === null) return null;
  const { workArea } = display;
  const width = Math.min(PANEL_WIDTH, workArea.width - 2 * MARGIN);
  // A menu bar at the top; a panel of another system may be at the bottom.
  const above = icon.y + icon.height / 2 > workArea.y + workArea.height / 2;
  const room = (above ? icon.y - workArea.y : workArea.y + workArea.height - Math.max(icon.y + icon.height, workArea.y)) - GAP - MARGIN;
  const fits = Math.max(1, Math.min(Math.ceil(height), PANEL_MAX_HEIGHT, room));
  const centred = Math.round(icon.x + icon.width / 2 - width / 2);
  return {
    x: Math.min(Math.max(centred, workArea.x + MARGIN), workArea.x + workArea.width - MARGIN - width),
    y: Math.round(above ? icon.y - GAP - fits : Math.max(icon.y + icon.height, workArea.y) + GAP),
    width,
    height: fits,
  };
}

/** Remembered bounds put back on screen: a display may be gone, or smaller. At least the title bar has to be in reach. */
export function putBack(bounds: Rect, areas: readonly Rect[], minimum: { readonly width: number; readonly height: number }): Rect | null {
  const overlap = (area: Rect) => Math.max(0, Math.min(bounds.x + bounds.width, area.x + area.width) - Math.max(bounds.x, area.x))
    * Math.max(0, Math.min(bounds.y + bounds.height, area.y + area.height) - Math.max(bounds.y, area.y));
  const area = areas.toSorted((a, b) => overlap(b) - overlap(a))[0];
  if (area === undefined || overlap(area) === 0) return null;
  const width = Math.min(Math.max(bounds.width, minimum.width), Math.max(area.width, minimum.width));
  const height = Math.min(Math.max(bounds.height, minimum.height), Math.max(area.height, minimum.height));
  return {
    x: Math.round(Math.max(area.x, Math.min(bounds.x, area.x + area.width - width))),
    y: Math.round(Math.max(area.y, Math.min(bounds.y, area.y + area.height - height))),
    width,
    height,
  };
}
