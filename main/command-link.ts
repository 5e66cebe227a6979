import { accessSync, constants, lstatSync, mkdirSync, readFileSync, readlinkSync, readdirSync, renameSync, rmSync, symlinkSync, type Stats } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import type { ContractOutcome } from '../app/contract/values.ts';

export interface CommandLinkEnv {
  readonly home: string;
  /** The helper, which runs commands too; null where none was built. */
  readonly shim: string | null;
  /** Folders for commands of all users, in the order of preference. */
  readonly shared: readonly string[];
  /** Files that list the folders of PATH, or folders of such files. */
  readonly paths: readonly string[];
}
export const macCommandLink = (home: string, shim: string | null): CommandLinkEnv => ({
  home, shim, shared: ['/usr/local/bin', '/opt/homebrew/bin'], paths: ['/etc/paths', '/etc/paths.d'],
});

export interface CommandLink {
  readonly target: string;
  readonly link: string;
  /** `ours` also names a link to another copy's helper. */
  readonly exists: 'no' | 'ours' | 'other';
  readonly sentence: string;
}

const NAME = 'belfry';
const HELPER = 'belfry-mcp';

/** Where the command `belfry` would go. Nothing is changed. */
export function previewCommandLink(env: CommandLinkEnv): CommandLink {
  const own = join(env.home, '.local', 'bin');
  const folders = [...env.shared, own];
  const ours = folders.find((folder) => lookAt(join(folder, NAME)) === 'ours');
  // Where a link of ours is it stays; else the first folder that takes one without asking for a password.
  const folder = ours ?? env.shared.find(writable) ?? own;
  const link = join(folder, NAME);
  const exists = lookAt(link);
  const target = env.shim ?? '';
  return { target, link, exists, sentence: sentenceOf(env, { folder, link, exists }) };
}

/** Makes the link, or points one of ours to this copy. Anybody else's file stays. */
export function installCommandLink(env: CommandLinkEnv): ContractOutcome {
  const { link, exists, target, sentence } = previewCommandLink(env);
  if (env.shim === null || exists === 'other') return { ok: false, code: 'refused', message: sentence };
  if (exists === 'ours' && readlinkSync(link) === target) return { ok: true, changed: false, sentence: `${link} is there already.` };
  const fresh = `${link}.${process.pid}.new`;
  try {
    mkdirSync(dirname(link), { recursive: true });
    symlinkSync(target, fresh);
    renameSync(fresh, link);
  } catch {
    rmSync(fresh, { force: true });
    return { ok: false, code: 'not-written', message: `Couldn't make ${link}. Its folder can't be written to.` };
  }
  return { ok: true, changed: true, sentence: `Made ${link}.${onPath(env, dirname(link)) ? '' : ` Add ${dirname(link)} to PATH to use it.`}` };
}

/** Links of ours that are there, for the uninstall. */
export function commandLinks(env: CommandLinkEnv): readonly string[] {
  return [...env.shared, join(env.home, '.local', 'bin')].map((folder) => join(folder, NAME)).filter((link) => lookAt(link) === 'ours');
}

/** Ours is a link to a helper by its name: of this copy, of another one, or of one that is gone. */
function lookAt(link: string): CommandLink['exists'] {
  let found: Stats;
  try {
    found = lstatSync(link);
  } catch {
    return 'no';
  }
  return found.isSymbolicLink() && basename(readlinkSync(link)) === HELPER ? 'ours' : 'other';
}

function sentenceOf(env: CommandLinkEnv, { folder, link, exists }: { folder: string; link: string; exists: CommandLink['exists'] }): string {
  if (env.shim === null) return 'The helper was not built, so there is nothing to link to.';
  if (exists === 'other') return `${link} is another program's. It stays as it is.`;
  if (exists === 'ours') return `${link} is there already and will point to this copy.`;
  return onPath(env, folder) ? `A link is made in ${folder}.` : `A link is made in ${folder}, which may not be on your PATH yet.`;
}

function onPath(env: CommandLinkEnv, folder: string): boolean {
  const linesOf = (path: string): string[] => {
    try {
      return lstatSync(path).isDirectory() ? readdirSync(path).flatMap((name) => linesOf(join(path, name))) : readFileSync(path, 'utf8').split('\n');
    } catch {
      return [];
    }
  };
  return env.paths.flatMap(linesOf).map((line) => line.trim()).includes(folder);
}

function writable(folder: string): boolean {
  try {
    accessSync(folder, constants.W_OK);
    return lstatSync(folder).isDirectory();
  } catch {
    return false;
  }
}
