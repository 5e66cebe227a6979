import { randomUUID } from 'node:crypto';
import { lstatSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { inQuotes } from '../text/quotes.ts';
import { clients, KEY, type Client, type Folders } from './clients.ts';
import { lineDiff, type DiffLine } from './line-diff.ts';
import { commandOf, HELPER, isOurs, type Server, type ServerEntry } from './server-entry.ts';
import { backupOf, deleteSettingsFile, readSettingsFile, writeSettingsFile, type SettingsFile } from './settings-file.ts';
import { SettingsTrouble } from './trouble.ts';

/** What wiring needs to know of this Mac and of us. */
export interface WiringEnv extends Omit<Folders, 'applications' | 'tools'> {
  /** Folders with app bundles; without it the usual ones. */
  readonly applications?: readonly string[];
  /** Folders with commands; without it the usual ones. */
  readonly tools?: readonly string[];
  /** Absolute path of the helper that entries start. */
  readonly shim: string;
  /** Unix ms. */
  now(): number;
}

/** One program's settings, in the shape that the contract has for it (app/contract/shell.ts, `wiringRow`). */
export interface WiringRow {
  id: string;
  title: string;
  state: 'not-installed' | 'not-set-up' | 'set-up' | 'older-copy' | 'unreadable' | 'name-taken' | 'cant-write';
  file: string;
  place: string;
  sentence: string | null;
  snippet: string;
  snippetFormat: 'json' | 'toml' | 'yaml';
  addCommand: string | null;
  link: string | null;
  listenCommand: string | null;
  canOpen: boolean;
  startCommand: string | null;
  backup: string | null;
}

export type WiringPreview =
  | { ok: true; token: string; file: string; lines: DiffLine[]; sentence: string | null }
  | { ok: false; message: string; snippet: string | null };

export type WiringOutcome =
  | { ok: true; changed: boolean; sentence: string }
  | { ok: false; code: 'unknown' | 'not-written'; message: string };

export type WiringChange = 'add' | 'remove';

/** How long a shown change can be made, in ms; then it has to be looked at again. */
const TOKEN_LIFE = 15 * 60_000;
const MAX_TOKENS = 32;
const NAME = /^[A-Za-z0-9_-]{1,32}$/u;

/** What one program's settings say, read now. */
interface Look {
  readonly client: Client;
  readonly path: string;
  readonly read: SettingsFile | null;
  readonly trouble: SettingsTrouble | null;
  readonly ours: readonly Server[];
  /** The server, not ours, that stands where a new entry with the usual name would go. */
  readonly taken: Server | null;
  readonly installed: boolean;
}

/** A change worked out from what was read. Null bytes: the file goes. */
interface Plan {
  readonly client: Client;
  readonly change: WiringChange;
  readonly read: SettingsFile;
  readonly bytes: Buffer | null;
  readonly backup: boolean;
  readonly text: string;
}

/** Every program in the table, from its own file, read now. Never throws. */
export function listWirings(env: WiringEnv): WiringRow[] {
  return clients.map((client) => rowOf(env, look(env, client)));
}

/** Absolute path of a program's settings file, to show in Finder; null for an unknown id and for a project's file. */
export function wiringFile(env: WiringEnv, id: string): string | null {
  const client = clients.find((candidate) => candidate.id === id);
  const path = client && look(env, client).path;
  return path?.startsWith('/') ? path : null;
}

/** The link by which a program adds a server itself, for a known id; built here, never taken from the page. */
export function wiringLink(env: WiringEnv, id: string): string | null {
  const client = clients.find((candidate) => candidate.id === id);
  return client ? rowOf(env, look(env, client)).link : null;
}

/** The link that opens a program's own app, for a known id; fixed in the table. */
export function wiringAppLink(env: WiringEnv, id: string): string | null {
  const client = clients.find((candidate) => candidate.id === id);
  return client && opensByLink(client, foldersOf(env)) ? client.appLink : null;
}

/** What `removeAll` would take out, one line each. Never throws. */
export function removeAllPreview(env: WiringEnv): string[] {
  return clients.flatMap((client) => {
    const found = look(env, client);
    return found.ours.length === 0 ? byHand(env, found) : [`${client.title}: ${keysOf(found)} in ${shown(env, found.path)}`];
  });
}

/** Takes our entries out of every program's settings. @returns what was done, one line each. Never throws. */
export function removeAll(env: WiringEnv): string[] {
  return clients.flatMap((client) => {
    const lines: string[] = [];
    // A program may have several files; each look finds the next one with an entry of ours.
    for (let found = look(env, client), rounds = client.files(foldersOf(env)).length; ; found = look(env, client), rounds -= 1) {
      if (found.ours.length === 0 || rounds === 0) return [...lines, ...byHand(env, found)];
      try {
        carryOut(removalPlan(found, found.read!));
        lines.push(`Removed from ${client.title} (${shown(env, found.path)}).`);
      } catch (error) {
        return [...lines, `Couldn't write to ${client.title}'s settings. ${troubleOf(error).message} Remove ${keysOf(found)} from ${shown(env, found.path)} by hand.`];
      }
    }
  });
}

/** Holds the changes that were shown and can be made, each once. */
export class WiringDesk {
  readonly #plans = new Map<string, { readonly plan: Plan; readonly until: number }>();

  /**
   * The exact change, before it is made.
   * @param name another key, where ours is taken: letters, digits, `_` and `-`
   */
  preview(env: WiringEnv, id: string, change: WiringChange, name?: string): WiringPreview {
    const client = clients.find((candidate) => candidate.id === id);
    if (!client) return { ok: false, message: `Belfry knows no program "${id.slice(0, 64)}".`, snippet: null };
    if (name !== undefined && !NAME.test(name)) return { ok: false, message: 'A name has 1 to 32 letters, digits, "_" or "-".', snippet: null };
    const snippet = client.snippet({ key: name ?? KEY, shim: env.shim });
    try {
      const plan = planned(env, look(env, client), change, name);
      const token = this.#keep(plan, env.now());
      const about = [
        ...(client.rewrites ? [rewriteNote(client)] : []),
        ...(change === 'add' && client.note ? [client.note] : []),
        ...(plan.bytes === null ? ['The file held nothing else, so it is removed.'] : []),
      ];
      return { ok: true, token, file: shown(env, plan.read.file), lines: lineDiff(plan.read.text, plan.text), sentence: about.join(' ') || null };
    } catch (error) {
      if (error instanceof Refusal) return { ok: false, message: error.message, snippet: error.copy ? snippet : null };
      return { ok: false, message: refusal(client, error), snippet };
    }
  }

  /** Makes a change that was shown, if the file is still what it was then. */
  apply(env: WiringEnv, token: string): WiringOutcome {
    const kept = this.#plans.get(token);
    this.#plans.delete(token);
    if (!kept || kept.until < env.now()) return { ok: false, code: 'unknown', message: 'This change is no longer on offer. Look at it again.' };
    const { client, change } = kept.plan;
    try {
      carryOut(kept.plan);
    } catch (error) {
      return { ok: false, code: 'not-written', message: refusal(client, error) };
    }
    const sentence = change === 'add' ? `Added to ${client.title}. ${client.restart} to pick this up.` : `Removed from ${client.title}. ${client.restart} to let it go.`;
    return { ok: true, changed: true, sentence };
  }

  #keep(plan: Plan, now: number): string {
    for (const [token, { until }] of this.#plans) if (until < now || this.#plans.size >= MAX_TOKENS) this.#plans.delete(token);
    const token = randomUUID();
    this.#plans.set(token, { plan, until: now + TOKEN_LIFE });
    return token;
  }
}

/** Why a change isn't offered, where nothing is wrong with the file. */
class Refusal extends Error {
  /** Whether the text to copy helps. */
  readonly copy: boolean;

  constructor(message: string, copy: boolean) {
    super(message);
    this.copy = copy;
  }
}

function look(env: WiringEnv, client: Client): Look {
  const folders = foldersOf(env);
  const files = client.files(folders);
  const looks = files.map((path) => lookAt(env, client, path));
  const best = looks.find(({ ours }) => ours.length > 0) ?? looks.find(({ read, trouble }) => trouble !== null || read?.found) ?? looks[0]!;
  return { ...best, installed: looks.some(({ read, trouble }) => trouble !== null || read?.found) || signsOf(client, folders) };
}

function lookAt(env: WiringEnv, client: Client, path: string): Omit<Look, 'installed'> {
  let read: SettingsFile | null = null;
  try {
    // A project's file is in no known folder.
    if (!path.startsWith('/')) return { client, path, read, trouble: null, ours: [], taken: null };
    read = readSettingsFile(path);
    if (!client.write) return { client, path, read, trouble: null, ours: [], taken: null };
    const { format } = client.write;
    const servers = format.servers(read.text);
    const ours = servers.filter(({ entry }) => isOurs(entry, env.shim)).sort((a, b) => Number(b.key === KEY) - Number(a.key === KEY));
    const namesakes = servers.filter((server) => server.key === KEY && !ours.includes(server));
    const taken = namesakes.length === 0 ? null : namesakes.find(({ place }) => isDeepStrictEqual(place, format.place(read!.text))) ?? null;
    return { client, path, read, trouble: null, ours, taken };
  } catch (error) {
    return { client, path, read, trouble: troubleOf(error), ours: [], taken: null };
  }
}

function rowOf(env: WiringEnv, found: Look): WiringRow {
  const { client } = found;
  const key = found.ours[0]?.key ?? KEY;
  const ours = { key, shim: env.shim };
  const backup = backupOf(found.path);
  return {
    id: client.id,
    title: client.title,
    ...judged(env, found),
    file: shown(env, found.path),
    place: `${found.ours[0]?.place.join('.') ?? client.place} > ${key}`,
    snippet: client.snippet(ours),
    snippetFormat: client.snippetFormat,
    addCommand: client.addCommand(ours),
    link: client.link(ours),
    listenCommand: client.listenCommand(key),
    canOpen: opensByLink(client, foldersOf(env)),
    startCommand: client.startCommand,
    backup: backup.startsWith('/') && isThere(backup) ? basename(backup) : null,
  };
}

function judged(env: WiringEnv, found: Look): Pick<WiringRow, 'state' | 'sentence'> {
  const { client, trouble, read, taken } = found;
  if (trouble) return { state: trouble.kind === 'unreadable' ? 'unreadable' : 'cant-write', sentence: unreadable(client, trouble) };
  if (!client.write) {
    if (!found.installed) return { state: 'not-installed', sentence: null };
    return { state: 'cant-write', sentence: client.note ?? mentioned(env, read) ?? `Belfry doesn't edit this kind of file. Copy the settings into ${shown(env, found.path)}.` };
  }
  const [first] = found.ours;
  if (first) {
    if (commandOf(first.entry) !== env.shim) return { state: 'older-copy', sentence: 'The entry starts another copy of Belfry. Repair it to start this one.' };
    return { state: 'set-up', sentence: remark(client, first.entry!, client.write.entry(env.shim)) };
  }
  if (taken) return { state: 'name-taken', sentence: nameTaken(client, taken) };
  if (!found.installed) return { state: 'not-installed', sentence: null };
  return { state: 'not-set-up', sentence: client.rewrites ? rewriteNote(client) : client.note };
}

function rewriteNote(client: Client): string {
  return `Quit ${client.title} first: it can rewrite this file while it runs.`;
}

/** What is odd about an entry that starts this copy, or null. */
function remark(client: Client, entry: ServerEntry, wanted: ServerEntry): string | null {
  if (entry.disabled === true || entry.enabled === false) return `The entry is turned off in ${client.title}'s settings.`;
  const differs = Object.entries(wanted).some(([name, value]) => !isDeepStrictEqual(entry[name], value));
  return differs ? 'The entry was changed by hand.' : null;
}

/** Where a file that we don't edit names the helper. Its text is only searched: a comment counts too. */
function mentioned(env: WiringEnv, read: SettingsFile | null): string | null {
  if (read?.text.includes(env.shim)) return 'The file names this copy of Belfry.';
  return read?.text.includes(HELPER) ? 'The file names another copy of Belfry. Change it by hand.' : null;
}

function nameTaken(client: Client, taken: Server): string {
  const command = commandOf(taken.entry);
  // A stranger's text: only its last part, and only plain characters.
  const program = command === null ? '' : basename(command).replaceAll(/[^\w .+@-]/gu, '').slice(0, 32);
  return `${client.title} already has another server named ${inQuotes(taken.key)}${program === '' ? '' : ` (${program})`}. It stays as it is; use another name.`;
}

function planned(env: WiringEnv, found: Look, change: WiringChange, name: string | undefined): Plan {
  const { client, read, trouble } = found;
  if (client.write && trouble) throw trouble;
  if (!client.write || !read) throw new Refusal(`Belfry doesn't edit this kind of file. Copy the settings into ${shown(env, found.path)}.`, true);
  if (change === 'remove') {
    if (found.ours.length === 0) throw new Refusal(`Belfry is not in ${client.title}'s settings.`, false);
    return removalPlan(found, read);
  }
  if (env.shim.includes('/AppTranslocation/')) throw new Refusal('Belfry is running from a temporary copy. Move it to Applications first.', false);
  const { format, entry } = client.write;
  const wanted = entry(env.shim);
  const [first] = found.ours;
  if (first) {
    const text = format.update(read.text, first.place, first.key, wanted);
    if (text === read.text) throw new Refusal(`${client.title} is set up already.`, false);
    // A backup that holds all of the file but our entry is worth more than one with the older entry.
    return { client, change, read, bytes: encoded(read, text), backup: originalOf(found, read) === null, text };
  }
  if (!found.installed) throw new Refusal(`${client.title} was not found on this Mac. Copy the settings instead.`, true);
  const key = name ?? KEY;
  const place = format.place(read.text);
  const taken = format.servers(read.text).find((server) => server.key === key && isDeepStrictEqual(server.place, place));
  if (taken) throw new Refusal(nameTaken(client, taken), false);
  const text = format.add(read.text, place, key, wanted);
  return { client, change, read, bytes: encoded(read, text), backup: true, text };
}

/**
 * Back to the very bytes from before our entry, where the file is still those bytes and our entry; else only the entry goes.
 * A file that is what we would make out of nothing, with no earlier content known, goes as a whole.
 */
function removalPlan(found: Look, read: SettingsFile): Plan {
  const { client, ours } = found;
  const original = originalOf(found, read);
  if (original) return { client, change: 'remove', read, bytes: original.bytes, backup: original.bytes !== null, text: original.text };
  const text = ours.reduce((rest, { place, key }) => client.write!.format.remove(rest, place, key), read.text);
  return { client, change: 'remove', read, bytes: encoded(read, text), backup: true, text };
}

/** What the file was before our entry was added, if that can be told for sure. Null bytes: there was no file. */
function originalOf(found: Look, read: SettingsFile): { readonly bytes: Buffer | null; readonly text: string } | null {
  const [server, second] = found.ours;
  const format = found.client.write?.format;
  if (!server?.entry || second || !format || !read.found) return null;
  const { place, key, entry } = server;
  const givesThis = (text: string): boolean => {
    try {
      return isDeepStrictEqual(format.place(text), place) && format.add(text, place, key, entry) === read.text;
    } catch {
      return false;
    }
  };
  try {
    const backup = readSettingsFile(backupOf(read.file));
    if (backup.found && backup.mark === read.mark && givesThis(backup.text)) return { bytes: backup.found.bytes, text: backup.text };
  } catch {
    // A backup that can't be read tells nothing.
  }
  return read.mark === '' && !read.found.link && givesThis('') ? { bytes: null, text: '' } : null;
}

function carryOut(plan: Plan): void {
  if (plan.bytes === null) deleteSettingsFile(plan.read);
  else writeSettingsFile(plan.read, plan.bytes, plan.backup);
}

function encoded(read: SettingsFile, text: string): Buffer {
  return Buffer.from(read.mark + text);
}

function keysOf(found: Look): string {
  return found.ours.map(({ key }) => inQuotes(key)).join(', ');
}

/** What the owner has to take out by hand, or nothing. */
function byHand(env: WiringEnv, found: Look): string[] {
  const { client, read, trouble } = found;
  const file = shown(env, found.path);
  if (trouble) return [`Couldn't read ${client.title}'s settings. ${trouble.message} If Belfry is in ${file}, remove it by hand.`];
  if (!client.write && read?.text.includes(HELPER)) return [`${client.title}: remove Belfry from ${file} by hand.`];
  return [];
}

function unreadable(client: Client, trouble: SettingsTrouble): string {
  const start = trouble.kind === 'unreadable' ? `Couldn't read ${client.title}'s settings.` : `${client.title}'s settings are left alone.`;
  return `${start} ${trouble.message} Copy the settings instead.`;
}

/** What happened and what to do (ui.md, Copy). */
function refusal(client: Client, error: unknown): string {
  const trouble = troubleOf(error);
  return `Couldn't write to ${client.title}'s settings. ${trouble.message} ${trouble.kind === 'changed' ? 'Look at the change again.' : 'Copy the settings instead.'}`;
}

function troubleOf(error: unknown): SettingsTrouble {
  return error instanceof SettingsTrouble ? error : new SettingsTrouble('cant-write', 'The file could not be understood.');
}

function foldersOf(env: WiringEnv): Folders {
  const { home, platform, configHomes } = env;
  const system = platform === 'darwin' ? ['/opt/homebrew/bin', '/usr/local/bin'] : ['/usr/local/bin', '/usr/bin'];
  const own = ['.local/bin', 'bin', '.npm-global/bin', '.bun/bin', '.volta/bin', '.opencode/bin', '.claude/local'].map((folder) => join(home, folder));
  return {
    home,
    platform,
    ...(configHomes && { configHomes }),
    applications: env.applications ?? (platform === 'darwin' ? ['/Applications', join(home, 'Applications')] : []),
    tools: env.tools ?? [...own, ...system],
  };
}

const appsOf = ({ signs }: Client, folders: Folders): string[] => folders.applications.flatMap((folder) => signs.apps.map((app) => join(folder, app)));

/** Where a program is both an app and a terminal program, its app has to be found; else the system knows best where the app is. */
function opensByLink(client: Client, folders: Folders): boolean {
  return client.appLink !== null && (client.startCommand === null || appsOf(client, folders).some(isFolder));
}

function signsOf(client: Client, folders: Folders): boolean {
  const { signs } = client;
  const apps = appsOf(client, folders);
  const tools = folders.tools.flatMap((folder) => signs.tools.map((tool) => join(folder, tool)));
  return [...signs.folders(folders), ...apps].some(isFolder) || tools.some(isThere);
}

function isFolder(path: string): boolean {
  try {
    return statSync(path).isDirectory();
  } catch {
    return false;
  }
}

function isThere(path: string): boolean {
  try {
    lstatSync(path);
    return true;
  } catch {
    return false;
  }
}

/** With `~` for the home folder. */
function shown(env: WiringEnv, path: string): string {
  return path.startsWith(`${env.home}/`) ? `~${path.slice(env.home.length)}` : path;
}
