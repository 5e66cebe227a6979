import { z } from 'zod';
import { call, type HandlersOf } from './schema.ts';
import { outcome, pickedSettings } from './values.ts';

/**
 * Calls and notifications between the page and its shell: the menu-bar app, or in a browser the headless engine's
 * page server, which says of each Mac-only thing that it is not there.
 */

const at = z.number();

export const section = z.enum(['events', 'senders', 'live', 'clients', 'activity', 'diagnostics', 'settings']);
export const engineState = z.enum(['starting', 'running', 'restarting', 'stopped']);
export const location = z.enum(['ok', 'translocated', 'disk-image', 'outside-applications', 'unpackaged']);
export const onboardingStep = z.enum(['welcome', 'access', 'events', 'senders', 'connect', 'try', 'done']);

export const preferences = z.object({
  onboarding: onboardingStep,
  openAtLogin: z.boolean(),
  showIcon: z.boolean(),
  clickOpens: z.enum(['panel', 'menu']),
  alertAccessLost: z.boolean(),
  alertEngineStopped: z.boolean(),
  alertClientAsks: z.boolean(),
  alertNotDelivered: z.boolean(),
  alertUpdateReady: z.boolean(),
  automaticUpdates: z.boolean(),
  openMailAtLogin: z.boolean(),
  hideDetails: z.boolean(),
});

/** One program's settings file, read on every view (ui.md, Wiring). */
export const wiringRow = z.object({
  id: z.string(),
  title: z.string(),
  /** `cant-write`: YAML or an unknown shape, so the text is only shown to copy. */
  state: z.enum(['not-installed', 'not-set-up', 'set-up', 'older-copy', 'unreadable', 'name-taken', 'cant-write']),
  /** With `~` for the home folder. */
  file: z.string(),
  place: z.string(),
  /** What is wrong or still needed, or null. */
  sentence: z.string().nullable(),
  /** The text for this program's file or field. */
  snippet: z.string(),
  snippetFormat: z.enum(['json', 'toml', 'yaml']),
  /** The program's own command: shown to copy, never run. */
  addCommand: z.string().nullable(),
  link: z.string().nullable(),
  /** How to start it so that it hears events, or null. */
  listenCommand: z.string().nullable(),
  /** Its app can be opened by a link, through the system. */
  canOpen: z.boolean(),
  /** How to start it in a terminal: shown to copy, never run. */
  startCommand: z.string().nullable(),
  /** File name of the backup beside it, if there is one. */
  backup: z.string().nullable(),
});

export const diffLine = z.object({ kind: z.enum(['same', 'added', 'removed']), text: z.string() });
/** The exact change, shown before it is made. */
export const wiringPreview = z.discriminatedUnion('ok', [
  z.object({ ok: z.literal(true), token: z.string(), file: z.string(), lines: z.array(diffLine), sentence: z.string().nullable() }),
  z.object({ ok: z.literal(false), message: z.string(), snippet: z.string().nullable() }),
]);

export const shellState = z.object({
  kind: z.enum(['app', 'browser']),
  version: z.string(),
  /** Path of the shim to copy, or null where none was built. */
  shim: z.string().nullable(),
  /** The same as a shell reads it. */
  shimWord: z.string().nullable(),
  engine: engineState,
  restarts: z.int().min(0),
  location,
  /** Another copy owns the socket. */
  otherCopy: z.boolean(),
  signature: z.enum(['developer-id', 'unsigned', 'unknown']),
  team: z.string().nullable(),
  /** A fresh process reads the stores, the engine still can't. */
  needsReopen: z.boolean(),
  /** Whether only an administrator can give access, while it is denied. Null: can't tell. */
  needsAdministrator: z.boolean().nullable(),
  /** When System Settings was opened from here last, in this run. */
  settingsOpenedAt: at.nullable(),
  /** Null: not looked yet, or no menu bar here. */
  iconOnScreen: z.boolean().nullable(),
  loginItem: z.enum(['enabled', 'off', 'requires-approval', 'unknown']),
  update: z.object({ state: z.enum(['off', 'none', 'checking', 'ready', 'failed']), version: z.string().nullable() }),
  preferences,
  wiring: z.array(wiringRow),
});

/** What the page may ask the shell to do without an answer worth showing. A fixed list: nothing is passed on. */
export const shellAction = z.enum([
  'open-full-disk-access', 'reopen', 'move-to-applications', 'show-in-finder', 'show-other-copy', 'quit', 'restart-engine', 'open-mail', 'open-messages',
  'open-menu-bar-settings', 'open-login-items', 'open-notification-settings', 'check-for-updates', 'restart-to-update', 'close-panel', 'finish-onboarding',
  /** From a `dragstart` in the onboarding: the app's own bundle is dragged, into the list of System Settings. */
  'drag-app',
]);

const id = z.string().max(64);
const none = z.strictObject({});

const calls = {
  shell: {
    state: call(none, shellState),
    act: call(z.strictObject({ action: shellAction }), outcome),
    /** Opens the main window at a section; the onboarding window is `welcome`. */
    open: call(z.strictObject({ section: z.union([section, z.literal('onboarding')]) }), z.null()),
    /** The panel tells how high its content is, in CSS px. */
    resizePanel: call(z.strictObject({ height: z.number().min(1).max(2000) }), z.null()),
    copy: call(z.strictObject({ text: z.string().max(1_000_000) }), z.null()),
    setPreference: call(z.strictObject({ key: preferences.keyof(), value: z.union([z.boolean(), z.string().max(32)]) }), outcome),
    /** Offers a file to save; the outcome says where it went, or that nothing was saved. */
    save: call(z.strictObject({ name: z.string().max(128), text: z.string().max(20_000_000) }), outcome),
    /** Lets the owner pick a settings file and gives its text. */
    pickSettings: call(none, pickedSettings),
    /** Diagnostics of the shell itself, as rows like the engine's. */
    diagnostics: call(none, z.array(z.object({
      id: z.string(), title: z.string(), state: z.enum(['ok', 'warning', 'problem', 'cant-check']), evidence: z.string(), fix: z.string().nullable(),
    }))),
    /** A fresh process reads 16 bytes: whether a restart of the engine would help. */
    probeFresh: call(none, z.object({ readable: z.boolean().nullable() })),
  },
  wiring: {
    list: call(none, z.array(wiringRow)),
    /** @param name another key, where ours is taken. */
    preview: call(z.strictObject({ id, change: z.enum(['add', 'remove']), name: z.exactOptional(z.string().regex(/^[A-Za-z0-9_-]{1,32}$/)) }), wiringPreview),
    apply: call(z.strictObject({ token: z.string().max(64) }), outcome),
    show: call(z.strictObject({ id }), outcome),
    /** Opens the program's own app, through the system. */
    open: call(z.strictObject({ id }), outcome),
    /** A `cursor:` or similar link, opened by the system. */
    openLink: call(z.strictObject({ id }), outcome),
  },
  command: {
    /** A link named `belfry` in a folder on PATH: where it would go. */
    preview: call(none, z.object({ target: z.string(), link: z.string(), exists: z.enum(['no', 'ours', 'other']), sentence: z.string() })),
    install: call(none, outcome),
  },
  uninstall: {
    /** What would be removed, one line each. */
    preview: call(none, z.array(z.string())),
    /** What was done, one line each; then the app is shown in Finder and quits. */
    run: call(none, z.array(z.string())),
  },
};

export const shell = {
  calls,
  notifications: {
    state: shellState.partial(),
    /** From the menu, a notification or a shortcut. */
    navigate: z.object({ section: z.union([section, z.literal('add-sender'), z.literal('find')]) }),
  },
};

export type ShellHandlers = HandlersOf<typeof shell>;
export type ShellState = z.output<typeof shellState>;
export type ShellAction = z.output<typeof shellAction>;
export type Section = z.output<typeof section>;
export type Preferences = z.output<typeof preferences>;
export type WiringRow = z.output<typeof wiringRow>;
export type WiringPreview = z.output<typeof wiringPreview>;
export type DiffLine = z.output<typeof diffLine>;
export type OnboardingStep = z.output<typeof onboardingStep>;

/** Before the owner chose anything. */
export const DEFAULT_PREFERENCES: Preferences = {
  onboarding: 'welcome',
  openAtLogin: false,
  showIcon: true,
  clickOpens: 'panel',
  alertAccessLost: true,
  alertEngineStopped: true,
  alertClientAsks: true,
  alertNotDelivered: false,
  alertUpdateReady: true,
  automaticUpdates: true,
  openMailAtLogin: false,
  hideDetails: false,
};
