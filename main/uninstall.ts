import { existsSync, readdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeAll, removeAllPreview, type WiringEnv } from '../app/wiring/wiring.ts';
import { commandLinks, type CommandLinkEnv } from './command-link.ts';

export interface UninstallEnv {
  readonly wiring: WiringEnv | null;
  readonly commandLink: CommandLinkEnv;
  readonly dataDir: string;
  /** Folders of fetched updates, outside the data folder. */
  readonly caches: readonly string[];
  /** The login item as the system has it. */
  loginItemOn(): boolean;
  removeLoginItem(): void;
  stopEngine(): Promise<void>;
}

/**
 * Everything of ours in the data folder, by name: a development build may have been pointed at any folder, and what
 * somebody else keeps there stays.
 */
const OURS = [
  /^settings(\.v\d+)?\.json/, /^state\.db/, /^run$/, /^logs$/, /^cache$/, /^seal\.key$/, /^preferences\.json/, /^windows\.json/, /^window$/, /^Singleton/, /^search/,
  /^lockfile$/, /^Crashpad$/, /^Code Cache$/, /^GPUCache$/,
];

/** What would be removed, one line each. */
export function uninstallPreview(env: UninstallEnv): string[] {
  return [
    ...(env.wiring ? removeAllPreview(env.wiring) : []),
    ...(env.loginItemOn() ? ['Open at login'] : []),
    ...commandLinks(env.commandLink).map((link) => `The command ${link}`),
    ...env.caches.filter((folder) => existsSync(folder)).map((folder) => `Fetched updates in ${folder}`),
    `The data folder ${env.dataDir}`,
  ];
}

/** Removes it. A part that fails is said and keeps none of the others. @returns what was done, one line each */
export async function uninstall(env: UninstallEnv): Promise<string[]> {
  const lines = env.wiring ? removeAll(env.wiring) : [];
  if (env.loginItemOn()) {
    env.removeLoginItem();
    lines.push(env.loginItemOn() ? "Couldn't turn off opening at login. Turn it off in System Settings > General > Login Items." : 'Turned off opening at login.');
  }
  for (const link of commandLinks(env.commandLink)) lines.push(attempt(() => rmSync(link), `Removed ${link}.`, `Couldn't remove ${link}.`));
  for (const folder of env.caches.filter((each) => existsSync(each))) lines.push(attempt(() => rmSync(folder, { recursive: true }), `Removed ${folder}.`, `Couldn't remove ${folder}.`));
  await env.stopEngine();
  lines.push(attempt(() => removeData(env.dataDir), `Removed the data in ${env.dataDir}.`, `Couldn't remove everything in ${env.dataDir}.`));
  return lines;
}

/** Also when the app quits: Chromium writes until then. */
export function removeData(dataDir: string): void {
  if (!existsSync(dataDir)) return;
  for (const name of readdirSync(dataDir)) if (OURS.some((ours) => ours.test(name))) rmSync(join(dataDir, name), { recursive: true, force: true });
  if (readdirSync(dataDir).length === 0) rmdirSync(dataDir);
}

function attempt(work: () => void, done: string, failed: string): string {
  try {
    work();
    return done;
  } catch {
    return failed;
  }
}
