import { join } from 'node:path';
import { app, nativeImage, Tray, type Menu } from 'electron';
import type { Health, HealthIcon } from '../app/contract/health.ts';
import type { Rect } from './panel-placement.ts';

/** Names the icon to the system, so that its place in the menu bar is kept over updates. */
const GUID = '6f4bdc0e-6c4c-4d27-9a1a-2f5a3f5f1b7e';

export interface TrayDelegate {
  /** What a click opens by the owner's choice. */
  clickOpens(): 'panel' | 'menu';
  /** @returns false where there is no place for a panel */
  togglePanel(icon: Rect): boolean;
  openMainWindow(): void;
  /** Built when it is opened: always the state of that moment. */
  menu(): Menu;
}

/** The icon in the menu bar. Its shape is the state; the tooltip is the headline. */
export class MenuBarIcon {
  readonly #delegate: TrayDelegate;
  readonly #folder: string;
  /** Kept: an icon without a reference is collected and vanishes. */
  #tray: Tray | null = null;
  #shown: Pick<Health, 'icon' | 'headline'> = { icon: 'off', headline: 'Checking...' };

  /** @param folder of the template images */
  constructor(folder: string, delegate: TrayDelegate) {
    this.#folder = folder;
    this.#delegate = delegate;
  }

  get present(): boolean {
    return this.#tray !== null;
  }

  show(): void {
    if (this.#tray !== null) return;
    const tray = new Tray(this.#image(this.#shown.icon), GUID);
    this.#tray = tray;
    // Otherwise two quick clicks are one double click, and the second never closes what the first opened.
    tray.setIgnoreDoubleClickEvents(true);
    tray.setToolTip(this.#shown.headline);
    tray.on('click', (event) => {
      const wantsMenu = event?.ctrlKey || app.accessibilitySupportEnabled || this.#delegate.clickOpens() === 'menu';
      if (wantsMenu) this.#popUp(tray);
      else if (!this.#delegate.togglePanel(tray.getBounds())) this.#delegate.openMainWindow();
    });
    // With a context menu set, macOS tells no clicks: it is opened by hand.
    tray.on('right-click', () => this.#popUp(tray));
  }

  hide(): void {
    this.#tray?.destroy();
    this.#tray = null;
  }

  update(health: Pick<Health, 'icon' | 'headline'>): void {
    const { icon, headline } = this.#shown;
    this.#shown = health;
    if (this.#tray === null) return;
    if (health.icon !== icon) this.#tray.setImage(this.#image(health.icon));
    if (health.headline !== headline) this.#tray.setToolTip(health.headline);
  }

  /** Null while it is not shown. Zero-sized or off screen if the system hides it. */
  bounds(): Rect | null {
    return this.#tray?.getBounds() ?? null;
  }

  #popUp(tray: Tray): void {
    tray.popUpContextMenu(this.#delegate.menu());
  }

  #image(icon: HealthIcon) {
    return nativeImage.createFromPath(join(this.#folder, iconFile(icon)));
  }
}

/** By its name the system draws it as a template: black and alpha, in the colour of the menu bar. `@2x` lies beside it. */
export const iconFile = (icon: HealthIcon): string => `${icon}Template.png`;
