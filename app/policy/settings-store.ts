import { closeSync, copyFileSync, constants, fsyncSync, statSync, openSync, readFileSync, renameSync, unlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { defaultSettings, migrationSteps, readSettings, SETTINGS_VERSION, type MigrationSteps, type Settings } from './settings.ts';

/** `newer` is never written; `broken` was moved aside. In both everything is off. */
export type SettingsState = 'ok' | 'fresh' | 'newer' | 'broken' | 'migrated';

export interface LoadedSettings {
  readonly settings: Settings;
  readonly state: SettingsState;
  /** What the owner has to know, where there is something. */
  readonly sentence?: string;
  /** False: the file is left as it is and changes are refused with `sentence`. */
  readonly writable: boolean;
}

/** Far above what the schema's limits come to in practice; a bigger file is not read into memory. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads settings at start. Never throws. @param now Unix ms, for the name of a file moved aside. */
export function loadSettings(file: string, now: number = Date.now(), steps: MigrationSteps = migrationSteps): LoadedSettings {
  let json: string;
  try {
    const stat = statSync(file);
    if (!stat.isFile()) return moveAside(file, now, 'it is not a regular file');
    if (stat.size > MAX_BYTES) return moveAside(file, now, `it is larger than ${MAX_BYTES / 1024 / 1024} MB`);
    json = readFileSync(file, 'utf8');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return { settings: defaultSettings, state: 'fresh', writable: true };
    return off('broken', `settings.json cannot be read (${codeOf(error)}). Everything is off, and the file is left as it is.`);
  }
  const read = readSettings(json, steps);
  switch (read.state) {
    case 'ok':
      return { settings: read.settings, state: 'ok', writable: true };
    case 'newer':
      return off('newer', `settings.json was written by a newer Belfry (version ${read.version}; this one knows ${SETTINGS_VERSION}). Everything is off, and the file is left as it is.`);
    case 'broken':
      return moveAside(file, now, read.reason);
    case 'migrated':
      return migrated(file, read.settings, read.from);
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
  readonly loaded: LoadedSettings;
  #settings: Settings;

  constructor(file: string, now: number = Date.now()) {
    this.file = file;
    this.loaded = loadSettings(file, now);
    this.#settings = this.loaded.settings;
  }

  get settings(): Settings {
    return this.#settings;
  }

  /** Written before it counts. Null when done, else a sentence and nothing changed. Synchronous, so writes never cross. */
  save(next: Settings): string | null {
    if (!this.loaded.writable) return this.loaded.sentence ?? 'settings.json cannot be written.';
    try {
      writeSettings(this.file, next);
    } catch (error) {
      return `Couldn't write settings.json: ${writeTrouble(codeOf(error))}. Nothing was changed.`;
    }
    this.#settings = next;
    return null;
  }
}

function migrated(file: string, settings: Settings, from: number): LoadedSettings {
  const kept = join(dirname(file), `settings.v${from}.json`);
  try {
    copyFileSync(file, kept, constants.COPYFILE_EXCL);
  } catch (error) {
    // A copy from an earlier try is kept: it may be the better one.
    if (codeOf(error) !== 'EEXIST') return { settings, state: 'migrated', writable: false, sentence: `The old settings.json could not be kept (${codeOf(error)}), so changes are not written.` };
  }
  try {
    writeSettings(file, settings);
  } catch (error) {
    return { settings, state: 'migrated', writable: true, sentence: `settings.json could not be brought up to date: ${writeTrouble(codeOf(error))}.` };
  }
  return { settings, state: 'migrated', writable: true, sentence: `settings.json was brought up from version ${from}; the old file is settings.v${from}.json.` };
}

function moveAside(file: string, now: number, reason: string): LoadedSettings {
  const stamp = new Date(now).toISOString().replace(/[-:.]/g, '');
  const name = `settings.broken-${stamp}.json`;
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
