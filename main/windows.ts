import { join } from 'node:path';
import { app, BrowserWindow, screen, type BrowserWindowConstructorOptions, type WebContents } from 'electron';
import { z } from 'zod';
import type { Section } from '../app/contract/shell.ts';
import type { Clock } from './clock.ts';
import { JsonFile } from './json-file.ts';
import { addressOf, type View } from './origin.ts';
import { PANEL_MAX_HEIGHT, PANEL_WIDTH, placePanel, putBack, type Rect } from './panel-placement.ts';

export interface WindowsOptions {
  readonly preload: string;
  readonly dataDir: string;
  readonly clock: Clock;
  readonly platform: NodeJS.Platform;
  /** A page came up or went. */
  readonly opened: (contents: WebContents, view: View) => void;
  readonly closed: (contentsId: number) => void;
  /** A window of ours came to the front. */
  readonly focused: (view: View) => void;
}

const MAIN = { width: 960, height: 640 };
const MAIN_MINIMUM = { width: 640, height: 480 };
const ONBOARDING = { width: 640, height: 520 };
/** A click on the icon takes the focus from the panel before the click is told: it must not open it again. */
const SAME_CLICK_MS = 300;
const box = z.object({ x: z.number(), y: z.number(), width: z.number(), height: z.number() });
const kept = z.object({ main: box.nullable() });

/** The three windows: the panel, made once and hidden; the main window and the onboarding, made when asked for. */
export class Windows {
  readonly #options: WindowsOptions;
  readonly #file: JsonFile<z.output<typeof kept>>;
  readonly #views = new Map<number, View>();
  #panel: BrowserWindow | null = null;
  #main: BrowserWindow | null = null;
  #onboarding: BrowserWindow | null = null;
  #panelHeight = 320;
  #panelIcon: Rect | null = null;
  #hiddenAt = -Infinity;

  constructor(options: WindowsOptions) {
    this.#options = options;
    this.#file = new JsonFile(join(options.dataDir, 'windows.json'), 1, kept);
  }

  owns(contentsId: number): boolean {
    return this.#views.has(contentsId);
  }
  viewOf(contentsId: number): View | null {
    return this.#views.get(contentsId) ?? null;
  }
  get onboardingOpen(): boolean {
    return this.#onboarding !== null;
  }
  /** A window of ours is in front: then no notification is shown. */
  get inFront(): boolean {
    return this.all().some((window) => window.isFocused());
  }

  all(): readonly BrowserWindow[] {
    return [this.#panel, this.#main, this.#onboarding].filter((window): window is BrowserWindow => window !== null && !window.isDestroyed());
  }

  /** @returns whether the window was made just now: then its address already names the section */
  openMain(section?: Section): boolean {
    this.hidePanel();
    const made = this.#main === null;
    this.#main ??= this.#makeMain(section);
    if (!made) this.#bringUp(this.#main);
    return made;
  }

  openOnboarding(): void {
    this.hidePanel();
    if (this.#onboarding !== null) return this.#bringUp(this.#onboarding);
    const window = this.#make('onboarding', { ...ONBOARDING, resizable: false, maximizable: false, fullscreenable: false, title: 'Set up Belfry', center: true });
    this.#onboarding = window;
    window.on('closed', () => {
      this.#onboarding = null;
      this.#policy();
    });
    window.once('ready-to-show', () => this.#bringUp(window));
    this.#policy();
  }

  closeOnboarding(): void {
    this.#onboarding?.close();
  }

  /** Follows a `dragstart` in the page. @returns false if the onboarding is not open */
  dragFromOnboarding(file: string, icon: string): boolean {
    this.#onboarding?.webContents.startDrag({ file, icon });
    return this.#onboarding !== null;
  }

  /** So that the first click finds it drawn. */
  preparePanel(): void {
    if (this.#panel !== null) return;
    const panel = this.#make('panel', {
      width: PANEL_WIDTH, height: this.#panelHeight, frame: false, resizable: false, movable: false, minimizable: false, maximizable: false,
      fullscreenable: false, skipTaskbar: true, hiddenInMissionControl: true, title: 'Belfry',
      ...(this.#options.platform === 'darwin' && { type: 'panel' }),
    });
    this.#panel = panel;
    if (this.#options.platform === 'darwin') panel.setVisibleOnAllWorkspaces(true, { visibleOnFullScreen: true, skipTransformProcessType: true });
    panel.on('blur', () => this.hidePanel());
    panel.on('closed', () => { this.#panel = null; });
  }

  /** Left click on the icon. @returns false if the icon is on no screen, so that there is no place for a panel */
  togglePanel(icon: Rect): boolean {
    if (this.#panel?.isVisible()) {
      this.hidePanel();
      return true;
    }
    const place = placePanel(icon, screen.getAllDisplays(), this.#panelHeight);
    if (place === null) return false;
    if (this.#options.clock.monotonic() - this.#hiddenAt < SAME_CLICK_MS) return true;
    this.preparePanel();
    this.#panelIcon = icon;
    this.#panel!.setBounds(place);
    // This high only while it is open: over full-screen apps, as a menu is.
    this.#panel!.setAlwaysOnTop(true, 'pop-up-menu');
    this.#panel!.show();
    this.#panel!.focus();
    return true;
  }

  hidePanel(): void {
    if (!this.#panel?.isVisible()) return;
    this.#hiddenAt = this.#options.clock.monotonic();
    this.#panel.setAlwaysOnTop(false);
    this.#panel.hide();
  }

  /** @param height of the panel's content, CSS px */
  resizePanel(height: number): void {
    this.#panelHeight = Math.min(Math.ceil(height), PANEL_MAX_HEIGHT);
    if (this.#panel === null || this.#panelIcon === null) return;
    const place = placePanel(this.#panelIcon, screen.getAllDisplays(), this.#panelHeight);
    if (place !== null) this.#panel.setBounds(place);
  }

  #makeMain(section: Section | undefined): BrowserWindow {
    const remembered = this.#file.read()?.main ?? null;
    const bounds = remembered && putBack(remembered, screen.getAllDisplays().map(({ workArea }) => workArea), MAIN_MINIMUM);
    const window = this.#make('window', { ...MAIN, ...bounds, minWidth: MAIN_MINIMUM.width, minHeight: MAIN_MINIMUM.height, title: 'Belfry' }, section);
    this.#main = window;
    const remember = () => {
      try {
        this.#file.write({ main: window.getNormalBounds() });
      } catch {
        // Where a window stood is not worth a word.
      }
    };
    window.on('close', remember);
    window.on('closed', () => {
      this.#main = null;
      this.#policy();
    });
    window.once('ready-to-show', () => this.#bringUp(window));
    this.#policy();
    return window;
  }

  #make(view: View, options: BrowserWindowConstructorOptions, section?: Section): BrowserWindow {
    const window = new BrowserWindow({
      show: false,
      ...options,
      webPreferences: {
        preload: this.#options.preload, sandbox: true, contextIsolation: true, nodeIntegration: false, webSecurity: true, webviewTag: false, spellcheck: false,
        navigateOnDragDrop: false, safeDialogs: true, backgroundThrottling: true,
      },
    });
    const { id } = window.webContents;
    this.#views.set(id, view);
    window.on('focus', () => this.#options.focused(view));
    window.on('closed', () => {
      this.#views.delete(id);
      this.#options.closed(id);
    });
    this.#options.opened(window.webContents, view);
    void window.loadURL(section === undefined ? addressOf(view) : `${addressOf(view)}&screen=${section}`);
    return window;
  }

  #bringUp(window: BrowserWindow): void {
    if (window.isMinimized()) window.restore();
    window.show();
    window.focus();
    // An accessory app does not come to the front by itself.
    if (this.#options.platform === 'darwin') app.focus({ steal: true });
  }

  /** The Dock icon shows only while a window is open (ui.md, section 3). */
  #policy(): void {
    if (this.#options.platform !== 'darwin') return;
    app.setActivationPolicy(this.#main === null && this.#onboarding === null ? 'accessory' : 'regular');
  }
}
