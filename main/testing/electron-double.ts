import { EventEmitter } from 'node:events';
import type * as Electron from 'electron';

/**
 * A double of `electron`, which needs its binary to be loaded. Typed against the real one: what is here has its names and
 * shapes, and what the app uses and is missing here fails. `heard` keeps what was asked of it, in order.
 */
type Double<T> = {
  readonly [K in keyof T]?: T[K] extends abstract new (...args: never[]) => infer I ? Shape<T[K]> & { readonly prototype?: Shape<I> }
    : T[K] extends (...args: never[]) => unknown ? T[K]
    : Shape<T[K]>;
};
/** Events are node's own. */
type Shape<T> = Partial<Omit<T, keyof EventEmitter | 'prototype'>> & { readonly on?: unknown };

export const heard: [call: string, ...args: unknown[]][] = [];
const hear = (call: string, ...args: unknown[]): void => {
  heard.push([call, ...args]);
};
export const callsOf = (call: string): unknown[][] => heard.filter(([name]) => name === call).map(([, ...args]) => args);

/** What the double answers; `reset` puts it back. */
const usual = () => ({
  packaged: false,
  inApplications: true,
  exe: '/Applications/Belfry.app/Contents/MacOS/Belfry',
  loginItem: 'not-registered' as Electron.LoginItemSettings['status'],
  openedAtLogin: false,
  accessibility: false,
  encryption: true,
  onBattery: false,
  trayBounds: { x: 900, y: 0, width: 24, height: 24 },
  displays: [{ bounds: { x: 0, y: 0, width: 1440, height: 900 }, workArea: { x: 0, y: 25, width: 1440, height: 875 } }],
  openExternal: true,
  saveTo: '',
  pick: '',
});
export const answers = usual();

export function reset(): void {
  heard.length = 0;
  Object.assign(answers, usual());
  for (const emitter of [app, ipcMain, screen, powerMonitor, defaultSession]) emitter.removeAllListeners();
  BrowserWindow.made.length = 0;
  Tray.made.length = 0;
  Notification.made.length = 0;
  handlers.clear();
}

class App extends EventEmitter {
  get isPackaged(): boolean { return answers.packaged; }
  get accessibilitySupportEnabled(): boolean { return answers.accessibility; }
  getPath(name: string): string { return name === 'exe' ? answers.exe : `/tmp/belfry-double/${name}`; }
  getVersion(): string { return '1.2.0'; }
  setActivationPolicy(policy: string): void { hear('app.setActivationPolicy', policy); }
  focus(): void { hear('app.focus'); }
  quit(): void { hear('app.quit'); }
  relaunch(): void { hear('app.relaunch'); }
  isInApplicationsFolder(): boolean { return answers.inApplications; }
  moveToApplicationsFolder(options?: Electron.MoveToApplicationsFolderOptions): boolean {
    hear('app.moveToApplicationsFolder', options?.conflictHandler?.('exists'), options?.conflictHandler?.('existsAndRunning'));
    return true;
  }
  getLoginItemSettings(): Electron.LoginItemSettings {
    return { openAtLogin: answers.loginItem === 'enabled', wasOpenedAtLogin: answers.openedAtLogin, status: answers.loginItem, executableWillLaunchAtLogin: false, launchItems: [] };
  }
  setLoginItemSettings(settings: Electron.Settings): void {
    hear('app.setLoginItemSettings', settings);
    answers.loginItem = settings.openAtLogin ? 'enabled' : 'not-registered';
  }
}
export const app = new App();

let lastContents = 0;
class WebContents extends EventEmitter {
  readonly id = (lastContents += 1);
  readonly mainFrame = { url: '', parent: null };
  isDestroyed(): boolean { return false; }
  send(channel: string, ...args: unknown[]): void { hear('webContents.send', this.id, channel, ...args); }
  postMessage(channel: string, message: unknown, transfer?: unknown[]): void { hear('webContents.postMessage', this.id, channel, message, transfer?.length ?? 0); }
  startDrag(item: Electron.Item): void { hear('webContents.startDrag', item); }
  getURL(): string { return this.mainFrame.url; }
}

export class BrowserWindow extends EventEmitter {
  static readonly made: BrowserWindow[] = [];
  readonly options: Electron.BrowserWindowConstructorOptions;
  readonly webContents = new WebContents() as WebContents & Electron.WebContents;
  visible = false;
  focused = false;
  destroyed = false;
  bounds: Electron.Rectangle;
  constructor(options: Electron.BrowserWindowConstructorOptions = {}) {
    super();
    this.options = options;
    this.bounds = { x: options.x ?? 0, y: options.y ?? 0, width: options.width ?? 0, height: options.height ?? 0 };
    BrowserWindow.made.push(this);
  }
  loadURL(url: string): Promise<void> {
    (this.webContents.mainFrame as { url: string }).url = url;
    hear('window.loadURL', url);
    return Promise.resolve();
  }
  show(): void { this.visible = true; }
  hide(): void { this.visible = false; }
  focus(): void {
    this.focused = true;
    this.emit('focus');
  }
  close(): void {
    this.emit('close');
    this.destroyed = true;
    this.focused = false;
    this.emit('closed');
  }
  isVisible(): boolean { return this.visible; }
  isFocused(): boolean { return this.focused; }
  isDestroyed(): boolean { return this.destroyed; }
  isMinimized(): boolean { return false; }
  restore(): void { hear('window.restore'); }
  setBounds(bounds: Partial<Electron.Rectangle>): void { this.bounds = { ...this.bounds, ...bounds }; }
  getNormalBounds(): Electron.Rectangle { return this.bounds; }
  setAlwaysOnTop(on: boolean, level?: string): void { hear('window.setAlwaysOnTop', on, level); }
  setVisibleOnAllWorkspaces(on: boolean, options?: Electron.VisibleOnAllWorkspacesOptions): void { hear('window.setVisibleOnAllWorkspaces', on, options); }
}

export class Tray extends EventEmitter {
  static readonly made: Tray[] = [];
  constructor(image: unknown, guid?: string) {
    super();
    hear('tray', image, guid);
    Tray.made.push(this);
  }
  setImage(image: unknown): void { hear('tray.setImage', image); }
  setToolTip(text: string): void { hear('tray.setToolTip', text); }
  setIgnoreDoubleClickEvents(ignore: boolean): void { hear('tray.setIgnoreDoubleClickEvents', ignore); }
  popUpContextMenu(menu?: unknown): void { hear('tray.popUpContextMenu', menu); }
  getBounds(): Electron.Rectangle { return answers.trayBounds; }
  destroy(): void { hear('tray.destroy'); }
}

export class Menu {
  readonly items: Electron.MenuItem[] = [];
  readonly template: Electron.MenuItemConstructorOptions[];
  constructor(template: Electron.MenuItemConstructorOptions[] = []) {
    this.template = template;
  }
  static buildFromTemplate(template: Electron.MenuItemConstructorOptions[]): Electron.Menu { return new Menu(template) as unknown as Electron.Menu; }
  static setApplicationMenu(menu: unknown): void { hear('Menu.setApplicationMenu', menu); }
}

export class Notification extends EventEmitter {
  static readonly made: Notification[] = [];
  readonly options: Electron.NotificationConstructorOptions;
  closed = false;
  constructor(options: Electron.NotificationConstructorOptions = {}) {
    super();
    this.options = options;
    Notification.made.push(this);
  }
  static isSupported(): boolean { return true; }
  show(): void { hear('notification.show', this.options.body); }
  close(): void { this.closed = true; }
}

class DefaultSession extends EventEmitter {
  readonly protocol = { handle: (scheme: string, handler: (request: Request) => Response | Promise<Response>) => void handlers.set(scheme, handler) } as unknown as Electron.Protocol;
  setPermissionRequestHandler(handler: unknown): void { hear('session.setPermissionRequestHandler', handler); }
  setPermissionCheckHandler(handler: unknown): void { hear('session.setPermissionCheckHandler', handler); }
  setDevicePermissionHandler(handler: unknown): void { hear('session.setDevicePermissionHandler', handler); }
}
export const handlers = new Map<string, (request: Request) => Response | Promise<Response>>();
export const defaultSession = new DefaultSession();
export const session = { defaultSession: defaultSession as unknown as Electron.Session };

class Screen extends EventEmitter {
  getAllDisplays(): Electron.Display[] { return answers.displays as Electron.Display[]; }
}
export const screen = new Screen();
export const powerMonitor = Object.assign(new EventEmitter(), { isOnBatteryPower: (): boolean => answers.onBattery });
export const ipcMain = new EventEmitter();

export const shell = {
  openExternal: (url: string): Promise<void> => {
    hear('shell.openExternal', url);
    return answers.openExternal ? Promise.resolve() : Promise.reject(new Error('none'));
  },
  openPath: (path: string): Promise<string> => {
    hear('shell.openPath', path);
    return Promise.resolve('');
  },
  showItemInFolder: (path: string): void => hear('shell.showItemInFolder', path),
};
export const clipboard = {
  writeText: (text: string): Promise<void> => {
    hear('clipboard.writeText', text);
    return Promise.resolve();
  },
};
export const dialog = {
  showMessageBox: ((options: Electron.MessageBoxOptions) => {
    hear('dialog.showMessageBox', options.message);
    return Promise.resolve({ response: 0, checkboxChecked: false });
  }) as Electron.Dialog['showMessageBox'],
  showSaveDialog: ((options: Electron.SaveDialogOptions) => {
    hear('dialog.showSaveDialog', options.defaultPath);
    return Promise.resolve({ canceled: answers.saveTo === '', filePath: answers.saveTo });
  }) as Electron.Dialog['showSaveDialog'],
  showOpenDialog: (() => Promise.resolve({ canceled: answers.pick === '', filePaths: answers.pick === '' ? [] : [answers.pick] })) as Electron.Dialog['showOpenDialog'],
};
export const nativeImage = { createFromPath: (path: string) => path as unknown as Electron.NativeImage };
export const protocol = { registerSchemesAsPrivileged: (schemes: Electron.CustomScheme[]): void => hear('protocol.registerSchemesAsPrivileged', schemes) };

/** A keychain that turns text around: enough to see that nothing is kept in clear. */
const turned = (text: string): string => [...text].toReversed().join('');
export const safeStorage = {
  isEncryptionAvailable: (): boolean => answers.encryption,
  encryptString: (text: string): Buffer => Buffer.from(turned(text)),
  decryptString: (bytes: Buffer): string => turned(bytes.toString()),
};

export class MessageChannelMain {
  readonly port1 = Object.assign(new EventEmitter(), { postMessage: () => undefined, start: () => undefined, close: () => undefined }) as unknown as Electron.MessagePortMain;
  readonly port2 = this.port1;
}

/** Made by `utilityProcess.fork`: told what to say by the test. */
export class UtilityChild extends EventEmitter {
  pid: number | undefined = 4321;
  readonly stdout = null;
  readonly stderr = null;
  postMessage(message: unknown, transfer?: unknown[]): void { hear('child.postMessage', message, transfer?.length ?? 0); }
  kill(): boolean { return true; }
}
export const utilityProcess = {
  fork: (path: string, args?: string[], options?: Electron.ForkOptions): Electron.UtilityProcess => {
    hear('utilityProcess.fork', path, args, options);
    return new UtilityChild() as unknown as Electron.UtilityProcess;
  },
};

({
  app, BrowserWindow, Tray, Menu, Notification, session, screen, powerMonitor, ipcMain, shell, clipboard, dialog, nativeImage, protocol, safeStorage, MessageChannelMain, utilityProcess,
}) satisfies Double<typeof Electron>;
