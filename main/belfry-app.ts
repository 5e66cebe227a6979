import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { app, dialog, ipcMain, Menu, powerMonitor, safeStorage, screen, session, shell as desktop } from 'electron';
import { glanceOf, type Glance } from '../app/contract/glance.ts';
import { untilWords } from '../app/contract/time-words.ts';
import type { Section, ShellAction, ShellState } from '../app/contract/shell.ts';
import type { ContractOutcome } from '../app/contract/values.ts';
import type { EngineSettings } from '../app/engine/host.ts';
import { posixQuote } from '../app/wiring/posix-quote.ts';
import type { WiringEnv } from '../app/wiring/wiring.ts';
import { AccessWatch } from './access.ts';
import { needsAdministrator, readPrivacyPolicy } from './administrator.ts';
import { appMenuTemplate } from './app-menu.ts';
import type { Clock } from './clock.ts';
import { macCommandLink } from './command-link.ts';
import { EngineHost } from './engine-host.ts';
import { EngineLinks } from './engine-links.ts';
import { nodeEngine, utilityEngine } from './engine-process.ts';
import { EngineState } from './engine-state.ts';
import { probeFresh } from './fresh-probe.ts';
import { Gate } from './gate.ts';
import type { Launch } from './launch.ts';
import { bundleOf, locationOf } from './location.ts';
import { loginItemOf, setLoginItem } from './login-item.ts';
import { openMailHidden } from './mail-at-login.ts';
import { menuOf, templateOf, type MenuDeed } from './menu.ts';
import { NotificationDesk } from './notification-desk.ts';
import { conditionsOf } from './notifications.ts';
import { displayOf } from './panel-placement.ts';
import { denyPermissions } from './permissions.ts';
import { onPower, onWake } from './power.ts';
import { PreferencesStore } from './preferences.ts';
import { fileTable, serveFiles } from './protocol.ts';
import { askHelper } from './report.ts';
import { sealOf, type Seal } from './seal.ts';
import { searchKeyOf } from './search-key.ts';
import { act, type ActionDelegate } from './shell-actions.ts';
import { shellHandlers } from './shell-handlers.ts';
import { ShellPages } from './shell-pages.ts';
import { ShellStateKeeper } from './shell-state.ts';
import { bundleId, signatureOf } from './signature.ts';
import { MenuBarIcon } from './tray.ts';
import { removeData } from './uninstall.ts';
import { updateCaches, Updates, type UpdateSource } from './updates.ts';
import { Windows } from './windows.ts';
import { WiringDesk } from './wiring-desk.ts';

export interface AppEnvironment {
  readonly launch: Launch;
  /** The owner's. */
  readonly home: string;
  readonly platform: NodeJS.Platform;
  readonly clock: Clock;
  readonly log: (line: string) => void;
  /** `dist/`. */
  readonly built: string;
  /** Template images. */
  readonly icons: string;
  /** Null: this build doesn't update itself. */
  readonly updates: UpdateSource | null;
}

/** The icon's place is known only a moment after it was made. */
const ICON_CHECK_MS = 2000;

/** The shell as a whole: made once the system is ready. Joins the engine, the windows, the icon and what the pages may ask. */
export class BelfryApp {
  readonly #env: AppEnvironment;
  readonly #keeper: ShellStateKeeper;
  readonly #preferences: PreferencesStore;
  readonly #seal: Seal;
  readonly #host: EngineHost;
  readonly #engine = new EngineState();
  readonly #windows: Windows;
  readonly #pages: ShellPages;
  readonly #links: EngineLinks;
  readonly #icon: MenuBarIcon;
  readonly #access: AccessWatch;
  readonly #alerts: NotificationDesk;
  readonly #updates: Updates;
  readonly #actions: ActionDelegate;
  readonly #bundle: string | null = bundleOf(app.getPath('exe'));
  #heardAt: number | null = null;
  #uninstalled = false;

  constructor(env: AppEnvironment) {
    this.#env = env;
    const { launch, platform, clock, log } = env;
    this.#preferences = new PreferencesStore(launch.dataDir);
    this.#seal = sealOf(launch.dataDir, safeStorage, app.isPackaged);
    const searchKey = searchKeyOf(launch.dataDir, safeStorage);
    const shim = this.#shimPath();
    this.#keeper = new ShellStateKeeper(this.#firstState(shim));

    const entry = join(env.built, 'engine.js');
    const spawn = launch.engineNode === null ? utilityEngine(entry, process.env, log) : nodeEngine(launch.engineNode, entry, process.env, log);
    const settings: EngineSettings = { dataDir: launch.dataDir, ...launch.stores };
    this.#host = new EngineHost({
      spawn, clock, log, message: () => ({ kind: 'app', start: {
        ...settings, onBattery: powerMonitor.isOnBatteryPower(), ...(this.#seal.key !== null && { sealKey: this.#seal.key }), ...(searchKey !== null && { searchKey }),
      } }),
    });

    this.#access = new AccessWatch({
      probeEngine: async () => this.#host.client?.call.access.probe({}).catch(() => null) ?? null,
      probeFresh: () => probeFresh(spawn, settings, clock),
      restartEngine: () => void this.#host.restart(),
      stepShows: () => this.#windows.onboardingOpen && this.#preferences.value.onboarding === 'access',
      needsReopen: (needsReopen) => this.#keeper.set({ needsReopen }),
    }, clock);

    this.#updates = new Updates(env.updates, {
      automatic: () => this.#preferences.value.automaticUpdates,
      answering: async () => (await this.#host.client?.call.app.busy({}))?.answering ?? 0,
      changed: (update) => this.#keeper.set({ update }),
      prepare: () => this.#host.stop(),
    }, clock);
    this.#actions = {
      platform,
      bundle: this.#bundle ?? app.getPath('exe'),
      readFirst: () => this.#access.look(),
      settingsOpened: () => this.#keeper.set({ settingsOpenedAt: clock.now() }),
      restartEngine: () => this.#host.restart(),
      otherCopySentence: () => (this.#host.state.otherCopy ? this.#host.state.sentence : null),
      hidePanel: () => this.#windows.hidePanel(),
      finishOnboarding: () => this.#finishOnboarding(),
      checkForUpdates: () => this.#updates.check(),
      restartToUpdate: () => this.#updates.restart(),
      dragApp: () => this.#bundle !== null && this.#windows.dragFromOnboarding(this.#bundle, join(env.icons, '..', 'icon.png')),
    };
    const wiringEnv: WiringEnv | null = shim === null ? null : { home: env.home, platform: platform === 'darwin' ? 'darwin' : 'linux', shim, now: () => clock.now() };
    const commandLink = macCommandLink(env.home, shim);
    this.#pages = new ShellPages(shellHandlers({
      state: () => this.#keeper.state,
      preferences: this.#preferences,
      actions: this.#actions,
      access: this.#access,
      wiring: new WiringDesk(wiringEnv, (wiring) => this.#keeper.set({ wiring })),
      commandLink,
      uninstall: {
        wiring: wiringEnv, commandLink, dataDir: launch.dataDir, caches: updateCaches(env.home),
        loginItemOn: () => ['enabled', 'requires-approval'].includes(loginItemOf(app, platform)),
        removeLoginItem: () => void setLoginItem(app, platform, false),
        stopEngine: () => this.#host.stop(),
      },
      open: (section) => this.open(section),
      resizePanel: (height) => this.#windows.resizePanel(height),
      reportFacts: async () => ({
        state: this.#keeper.state,
        bundle: this.#bundle ?? 'a development build',
        sealSentence: this.#seal.sentence,
        engineSentence: this.#host.state.sentence,
        preferencesState: this.#preferences.fileState,
        helper: await askHelper(shim, this.#host.socketPath, app.getVersion(), clock),
      }),
      uninstalled: (lines) => void this.#leave(lines),
    }), log);
    this.#links = new EngineLinks(this.#host);
    this.#windows = new Windows({
      preload: join(env.built, 'main', 'preload.cjs'), dataDir: launch.dataDir, clock, platform,
      opened: (contents) => this.#pages.add(contents),
      closed: (contentsId) => {
        this.#pages.remove(contentsId);
        this.#links.forget(contentsId);
        this.#alerts.look();
      },
      focused: () => {
        void this.#access.look();
        this.#keeper.set({ loginItem: loginItemOf(app, platform), needsAdministrator: this.#needsAdministrator() });
        this.#alerts.look();
      },
    });
    this.#icon = new MenuBarIcon(env.icons, {
      clickOpens: () => this.#preferences.value.clickOpens,
      togglePanel: (icon) => this.#windows.togglePanel(icon),
      openMainWindow: () => this.reopened(),
      menu: () => Menu.buildFromTemplate(templateOf(menuOf(this.#glance(), this.#keeper.state.update), (deed) => void this.#do(deed))),
    });
    this.#alerts = new NotificationDesk(clock, () => ({
      holding: conditionsOf(this.#keeper.state, this.#engine.slices, this.#heardAt),
      preferences: this.#preferences.value,
      inFront: this.#windows.inFront,
    }), ({ section }) => this.open(section));
    this.#join();
  }

  start(): void {
    const { launch, platform, log } = this.#env;
    denyPermissions(session.defaultSession);
    serveFiles(session.defaultSession, fileTable(join(this.#env.built, 'page')));
    const gate = new Gate((id) => this.#windows.owns(id), log);
    gate.listen(ipcMain, {
      shell: (contents, value) => this.#pages.hear(contents.id, value),
      wantEngine: (contents) => this.#links.want(contents),
    });
    if (platform === 'darwin') app.setActivationPolicy('accessory');
    if (this.#preferences.value.showIcon) {
      this.#icon.show();
      log(`menu bar icon ${Math.round(this.#env.clock.now() - (process.getCreationTime() ?? NaN))} ms after the start`);
    }
    this.#host.start();
    this.#access.start();
    this.#updates.start();
    this.#drawIcon();
    Menu.setApplicationMenu(Menu.buildFromTemplate(appMenuTemplate({
      open: (section) => this.open(section),
      navigate: (section) => this.#navigate(section),
      togglePause: () => void this.#do(this.#glance().pause.paused ? { kind: 'resume' } : { kind: 'pause', ms: null }),
    })));
    onWake(powerMonitor, () => void this.#access.look());
    onPower(powerMonitor, (onBattery) => this.#host.onBattery(onBattery));
    this.#env.clock.after(ICON_CHECK_MS, () => {
      this.#checkIcon();
      if (this.#icon.present && this.#preferences.value.clickOpens === 'panel') this.#windows.preparePanel();
    });
    const displaysChanged = () => this.#checkIcon();
    screen.on('display-added', displaysChanged);
    screen.on('display-removed', displaysChanged);
    screen.on('display-metrics-changed', displaysChanged);
    const atLogin = platform === 'darwin' && app.getLoginItemSettings().wasOpenedAtLogin;
    if (atLogin && this.#preferences.value.openMailAtLogin) openMailHidden(log);
    if (launch.background || atLogin) return;
    const misplaced = !['ok', 'unpackaged'].includes(this.#keeper.state.location);
    if (this.#preferences.value.onboarding === 'done' && !misplaced) this.open('events');
    else this.#windows.openOnboarding();
  }

  /** The owner opened the app again: always a window, since the icon may be hidden. */
  reopened(): void {
    if (!this.#windows.openMain()) this.#alerts.look();
  }

  open(section: Section | 'onboarding'): void {
    if (section === 'onboarding') return this.#windows.openOnboarding();
    if (!this.#windows.openMain(section)) this.#navigate(section);
  }

  /** The engine ends before the app does. */
  async end(): Promise<void> {
    this.#access.stop();
    this.#updates.stop();
    await this.#host.stop();
    this.#icon.hide();
    if (this.#uninstalled) removeData(this.#env.launch.dataDir);
  }

  #join(): void {
    const { clock, platform } = this.#env;
    this.#keeper.onChange((changed) => {
      this.#pages.notify('state', changed);
      this.#drawIcon();
      this.#alerts.look();
    });
    this.#host.onState(({ engine, restarts, otherCopy }) => this.#keeper.set({ engine, restarts, otherCopy }));
    this.#host.onEngine((engine) => {
      this.#engine.follow(engine);
      if (engine !== null) this.#access.engineUp();
    });
    this.#engine.onChange((slices) => {
      if (slices?.clients.some(({ state }) => state === 'listening')) this.#heardAt = clock.now();
      this.#drawIcon();
      this.#alerts.look();
    });
    this.#preferences.onChange((preferences, before) => {
      if (preferences.openAtLogin !== before.openAtLogin) this.#keeper.set({ loginItem: setLoginItem(app, platform, preferences.openAtLogin) });
      if (preferences.showIcon !== before.showIcon) {
        if (preferences.showIcon) this.#icon.show();
        else this.#icon.hide();
        clock.after(ICON_CHECK_MS, () => this.#checkIcon());
      }
      this.#keeper.set({ preferences });
    });
  }

  #firstState(shim: string | null): ShellState {
    const { platform } = this.#env;
    return {
      kind: 'app',
      version: app.getVersion(),
      shim,
      shimWord: shim === null ? null : posixQuote(shim),
      engine: 'starting',
      restarts: 0,
      location: locationOf({
        packaged: app.isPackaged, platform, path: app.getPath('exe'), inApplications: platform === 'darwin' && app.isInApplicationsFolder(),
      }),
      otherCopy: false,
      ...signatureOf(this.#bundle, platform),
      needsReopen: false,
      needsAdministrator: this.#needsAdministrator(),
      settingsOpenedAt: null,
      iconOnScreen: null,
      loginItem: loginItemOf(app, platform),
      update: { state: this.#env.updates === null ? 'off' : 'none', version: null },
      preferences: this.#preferences.value,
      wiring: [],
    };
  }

  #needsAdministrator(): boolean | null {
    return needsAdministrator({ platform: this.#env.platform, groups: process.getgroups?.() ?? [], policy: readPrivacyPolicy(), bundleId });
  }

  /** Beside the app's own executable; in a development build beside the bundles. Null where none was built. */
  #shimPath(): string | null {
    const path = app.isPackaged ? join(dirname(app.getPath('exe')), 'belfry-mcp') : join(this.#env.built, 'bin', 'belfry-mcp');
    return existsSync(path) ? path : null;
  }

  #glance(): Glance {
    const now = this.#env.clock.now();
    return glanceOf({ shell: this.#keeper.state, slices: this.#engine.slices }, now, (at) => untilWords(at, now));
  }

  #drawIcon(): void {
    this.#icon.update(this.#glance().health);
  }

  /** macOS can hide an icon without saying so: its bounds are off screen then. */
  #checkIcon(): void {
    const bounds = this.#icon.bounds();
    const known = this.#env.platform === 'darwin' && bounds !== null;
    this.#keeper.set({ iconOnScreen: known ? displayOf(bounds, screen.getAllDisplays()) !== null : null });
  }

  #navigate(section: Section | 'add-sender' | 'find'): void {
    for (const window of this.#windows.all()) {
      const { id } = window.webContents;
      if (this.#windows.viewOf(id) === 'window') this.#pages.notify('navigate', { section }, id);
    }
  }

  async #do(deed: MenuDeed): Promise<void> {
    const call = this.#host.client?.call;
    switch (deed.kind) {
      case 'shell':
        return this.#act(deed.action);
      case 'open':
        return this.open(deed.section);
      case 'main':
        return this.reopened();
      case 'quit':
        return app.quit();
      case 'updates':
        return this.#act(this.#keeper.state.update.state === 'ready' ? 'restart-to-update' : 'check-for-updates');
      case 'event':
        return this.#said(call?.events.set({ type: deed.type, on: deed.on }));
      case 'pause':
        return this.#said(call?.pause.start({ ms: deed.ms }));
      case 'resume':
        return this.#said(call?.pause.resume({}));
    }
  }

  #act(action: ShellAction): Promise<void> {
    return this.#said(act(action, this.#actions));
  }

  /** A choice in the menu has no page to say what became of it: only a refusal needs words. */
  async #said(answer: Promise<ContractOutcome> | undefined): Promise<void> {
    const refusal = await (answer ?? Promise.reject(new Error('no engine'))).then(
      (outcome) => (outcome.ok ? null : outcome.message),
      () => "Belfry isn't watching right now. Try again once it is.",
    );
    if (refusal !== null) await dialog.showMessageBox({ type: 'info', message: refusal, buttons: ['OK'] });
  }

  #finishOnboarding(): void {
    this.#preferences.set('onboarding', 'done');
    this.#windows.closeOnboarding();
    this.open('events');
  }

  /** After the uninstall the app stands alone: it is shown, so that it can be put into the bin. */
  async #leave(lines: readonly string[]): Promise<void> {
    this.#uninstalled = true;
    await dialog.showMessageBox({ type: 'info', message: 'Belfry is removed from this Mac.', detail: `${lines.join('\n')}\n\nPut the app into the Bin to finish.`, buttons: ['Quit'] });
    desktop.showItemInFolder(this.#bundle ?? app.getPath('exe'));
    await this.end();
    // Not `quit`: windows that close would write where they stood.
    app.exit(0);
  }
}
