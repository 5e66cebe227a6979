import { closeSync, copyFileSync, constants, fsyncSync, statSync, openSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Sealer, SealState } from './seal.ts';
import { defaultSettings, migrationSteps, readSettings, SETTINGS_VERSION, type MigrationSteps, type Settings } from './settings.ts';

/** `newer` is never written; `broken` was moved aside; `tampered` waits for the owner. In all three everything is off. */
export type SettingsState = 'ok' | 'fresh' | 'newer' | 'broken' | 'migrated' | 'tampered';

export interface LoadedSettings {
  readonly settings: Settings;
  readonly state: SettingsState;
  /** What the owner has to know, where there is something. */
  readonly sentence?: string;
  /** False: the file is left as it is and changes are refused with `sentence`. */
  readonly writable: boolean;
  /** `tampered`: what the file said at start, if it said anything. */
  readonly claimed?: Settings;
}

const TAMPERED = 'Settings were changed outside Belfry, so everything is off. Nothing is changed until the owner reviewed them in the app.';
const SEALED = 'These settings are sealed by the Belfry app, so a headless engine reads them and changes nothing. Change them in the app, or use another --data-dir.';

/** Far above what the schema's limits come to in practice; a bigger file is not read into memory. */
const MAX_BYTES = 16 * 1024 * 1024;

/**
 * Reads settings at start. Never throws. @param now Unix ms, for the name of a file moved aside.
 * @param sealer the app's; null headless, where no seal is checked and a sealed file is left as it is.
 */
export function loadSettings(file: string, now: number = Date.now(), steps: MigrationSteps = migrationSteps, sealer: Sealer | null = null): LoadedSettings {
  let json: string;
  try {
    const stat = statSync(file);
    const unfit = !stat.isFile() ? 'it is not a regular file' : stat.size > MAX_BYTES ? `it is larger than ${MAX_BYTES / 1024 / 1024} MB` : null;
    if (unfit !== null) {
      const moved = moveAside(file, now, unfit);
      return sealer === null ? moved : tampered(defaultSettings);
    }
    json = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return sealer?.isDue ? tampered(defaultSettings) : { settings: defaultSettings, state: 'fresh', writable: true };
    return off('broken', `settings.json cannot be read (${codeOf(error)}). Everything is off, and the file is left as it is.`);
  }
  const read = readSettings(json, steps);
  if (sealer !== null && read.state !== 'newer' && !sealer.holds(parsed(json))) {
    return tampered(read.state === 'broken' ? defaultSettings : read.settings);
  }
  if (sealer === null && 'settings' in read && read.settings.seal !== null) {
    return { settings: read.settings, state: read.state, writable: false, sentence: SEALED };
  }
  switch (read.state) {
    case 'ok':
      return { settings: read.settings, state: 'ok', writable: true };
    case 'newer':
      return off('newer', `settings.json was written by a newer Belfry (version ${read.version}; this one knows ${SETTINGS_VERSION}). Everything is off, and the file is left as it is.`);
    case 'broken':
      return moveAside(file, now, read.reason);
    case 'migrated':
      return migrated(file, read.settings, read.from, sealer);
  }
}

/** Temp file beside it, fsync, rename: a kill at any point leaves the old file or the new one. @throws from fs */
export function writeSettings(file: string, settings: Settings): void {
  const temp = `${file}.${process.pid}-${Math.random().toString(36).slice(2, 10)}.tmp`;
  try {
    // `wx` and 0600: never through a link that somebody laid out, never readable by others.
    const fd = openSync(temp, 'wx', 0o600);
    try {
      writeFileSync(fd, `${JSON.stringify(settings, null, 2)}\n`);
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
    renameSync(temp, file);
  } catch (error) {
    remove(temp);
    throw error;
  }
  syncFolder(dirname(file));
}

/** The one holder of settings: what is in memory is what was written last. */
export class SettingsStore {
  readonly file: string;
  readonly #sealer: Sealer | null;
  readonly #now: number;
  #loaded: LoadedSettings;
  #settings: Settings;

  constructor(file: string, now: number = Date.now(), sealer: Sealer | null = null) {
    this.file = file;
    this.#sealer = sealer;
    this.#now = now;
    this.#loaded = loadSettings(file, now, migrationSteps, sealer);
    this.#settings = this.#loaded.settings;
  }

  get loaded(): LoadedSettings {
    return this.#loaded;
  }
  get settings(): Settings {
    return this.#settings;
  }
  get seal(): SealState {
    if (this.#sealer === null) return 'none';
    return this.#loaded.state === 'tampered' ? 'broken' : 'ok';
  }

  /**
   * The owner's answer to a broken seal: what the file said at start holds from now on, or everything stays off; both
   * are sealed. A file that is refused is kept beside. Null when done, else a sentence and nothing changed.
   */
  answerSeal(accept: boolean): string | null {
    const { claimed } = this.#loaded;
    if (this.#loaded.state !== 'tampered' || claimed === undefined) return 'The seal of the settings is not broken.';
    const before = this.#loaded;
    if (!accept) keepAside(this.file, this.#now);
    this.#loaded = { settings: this.#settings, state: 'ok', writable: true };
    const failed = this.save(accept ? claimed : defaultSettings);
    if (failed !== null) this.#loaded = before;
    return failed;
  }

  /** Written before it counts. Null when done, else a sentence and nothing changed. Synchronous, so writes never cross. */
  save(next: Settings): string | null {
    if (!this.#loaded.writable) return this.#loaded.sentence ?? 'settings.json cannot be written.';
    try {
      this.#settings = writeSealed(this.file, next, this.#sealer);
    } catch (error) {
      return `Couldn't write settings.json: ${writeTrouble(codeOf(error))}. Nothing was changed.`;
    }
    if (this.#loaded.state === 'fresh') this.#loaded = { ...this.#loaded, state: 'ok' };
    return null;
  }
}

function writeSealed(file: string, settings: Settings, sealer: Sealer | null): Settings {
  const next = sealer?.sealed(settings) ?? settings;
  writeSettings(file, next);
  sealer?.written(next);
  return next;
}

const tampered = (claimed: Settings): LoadedSettings => ({ settings: defaultSettings, state: 'tampered', sentence: TAMPERED, writable: false, claimed });

function parsed(json: string): unknown {
  try {
    return JSON.parse(json);
  } catch {
    return null;
  }
}

/** Beside the file under a name of its own; what cannot be kept is no reason to go on without an answer. */
function keepAside(file: string, now: number): void {
  try {
    renameSync(file, join(dirname(file), `settings.refused-${stampOf(now)}.json`));
  } catch {
    // It is gone already, or will be written over.
  }
}

const stampOf = (now: number): string => new Date(now).toISOString().replace(/[-:.]/g, '');

function migrated(file: string, settings: Settings, from: number, sealer: Sealer | null): LoadedSettings {
  const kept = join(dirname(file), `settings.v${from}.json`);
  try {
    copyFileSync(file, kept, constants.COPYFILE_EXCL);
  } catch (error) {
    // A copy from an earlier try is kept: it may be the better one.
    if (codeOf(error) !== 'EEXIST') return { settings, state: 'migrated', writable: false, sentence: `The old settings.json could not be kept (${codeOf(error)}), so changes are not written.` };
  }
  try {
    writeSealed(file, settings, sealer);
  } catch (error) {
    return { settings, state: 'migrated', writable: true, sentence: `settings.json could not be brought up to date: ${writeTrouble(codeOf(error))}.` };
  }
  return { settings, state: 'migrated', writable: true, sentence: `settings.json was brought up from version ${from}; the old file is settings.v${from}.json.` };
}

function moveAside(file: string, now: number, reason: string): LoadedSettings {
  const name = `settings.broken-${stampOf(now)}.json`;
  try {
    renameSync(file, join(dirname(file), name));
  } catch (error) {
    return off('broken', `settings.json is broken (${reason}) and could not be moved aside (${codeOf(error)}). Everything is off, and the file is left as it is.`);
  }
  return { settings: defaultSettings, state: 'broken', writable: true, sentence: `settings.json is broken (${reason}). It was moved to ${name}, and everything is off.` };
}

const off = (state: 'newer' | 'broken', sentence: string): LoadedSettings => ({ settings: defaultSettings, state, sentence, writable: false });

function writeTrouble(code: string): string {
  switch (code) {
    case 'ENOSPC':
    case 'EDQUOT':
      return 'the disk is full';
    case 'EACCES':
    case 'EPERM':
      return 'the data folder is not writable';
    case 'EROFS':
      return 'the disk is read-only';
    case 'ENOENT':
      return 'the data folder is gone';
    default:
      return `the system answered ${code}`;
  }
}

/** The rename itself has to reach the disk too. Some file systems refuse to sync a folder; then it is as good as it gets. */
function syncFolder(folder: string): void {
  try {
    const fd = openSync(folder, 'r');
    try {
      fsyncSync(fd);
    } finally {
      closeSync(fd);
    }
  } catch {
    // The file is in place; only its durability is unknown.
  }
}

function remove(file: string): void {
  try {
    unlinkSync(file);
  } catch {
    // It never came to be.
  }
}

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException | null)?.code ?? 'unknown error';
