import { parseBuffer } from 'bplist-parser';
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

/** Newest folder name that is tried where the Mail folder may not be listed (reference/cupertino 4.1). */
const NEWEST = 20;
const OLDEST = 2;
const VERSION = /^V\d{1,3}$/;

export function envelopeIndexPath(mailDir: string): string {
  return join(mailDir, 'MailData', 'Envelope Index');
}

/**
 * The folder of the version that Mail uses, e.g. `.../Mail/V10`: what PersistenceInfo.plist names, else the
 * numerically highest (data-formats/envelope-index 1). Given such a folder itself, that one. Where nothing can be
 * seen, `V10`, so that opening it tells why.
 */
export function activeMailFolder(mailFolder: string): string {
  if (exists(join(mailFolder, 'MailData'))) return mailFolder;
  const named = lastUsed(mailFolder);
  if (named !== null && exists(join(mailFolder, named))) return join(mailFolder, named);
  return join(mailFolder, highest(mailFolder) ?? 'V10');
}

/**
 * Where an index can be, most likely first, for a probe that may not list the folder (ui.md, Full Disk Access): the
 * folder itself if it is a version's, else what Mail says that it uses, then V20 down to V2 by name.
 */
export function indexCandidates(mailFolder: string): readonly { readonly version: string | null; readonly path: string }[] {
  const own = basename(mailFolder);
  if (VERSION.test(own) || exists(join(mailFolder, 'MailData'))) return [{ version: VERSION.test(own) ? own : null, path: envelopeIndexPath(mailFolder) }];
  const named = lastUsed(mailFolder);
  const all = Array.from({ length: NEWEST - OLDEST + 1 }, (_, index) => `V${NEWEST - index}`);
  const order = named === null ? all : [named, ...all.filter((name) => name !== named)];
  return order.map((version) => ({ version, path: envelopeIndexPath(join(mailFolder, version)) }));
}

function lastUsed(mailFolder: string): string | null {
  try {
    return versionIn(readFileSync(join(mailFolder, 'PersistenceInfo.plist')));
  } catch {
    return null;
  }
}

/** `LastUsedVersionDirectoryName` of PersistenceInfo.plist, XML or binary; null if it names no version folder. */
export function versionIn(plist: Buffer): string | null {
  let name: unknown;
  if (plist.subarray(0, 6).toString('latin1') === 'bplist') {
    try {
      name = parseBuffer<{ LastUsedVersionDirectoryName?: unknown }>(plist)[0].LastUsedVersionDirectoryName;
    } catch {
      return null;
    }
  } else {
    name = /<key>\s*LastUsedVersionDirectoryName\s*<\/key>\s*<string>\s*([^<]*?)\s*<\/string>/.exec(plist.toString('utf8'))?.[1];
  }
  return typeof name === 'string' && VERSION.test(name) ? name : null;
}

function highest(mailFolder: string): string | null {
  let names: string[];
  try {
    names = readdirSync(mailFolder);
  } catch {
    // Without Full Disk Access the folder cannot be listed, yet a named file below it can be looked at.
    names = Array.from({ length: NEWEST - OLDEST + 1 }, (_, index) => `V${NEWEST - index}`).filter((name) => exists(join(mailFolder, name)));
  }
  const versions = names.filter((name) => VERSION.test(name)).sort((a, b) => Number(b.slice(1)) - Number(a.slice(1)));
  return versions.find((name) => exists(envelopeIndexPath(join(mailFolder, name)))) ?? versions[0] ?? null;
}

/** `stat` works without permission, which is all that is asked here (data-formats/tcc). */
function exists(path: string): boolean {
  try {
    return statSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return true;
  }
}
