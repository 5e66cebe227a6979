import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { besideBundle } from './host.ts';

export interface PageFile {
  readonly type: string;
  readonly bytes: Buffer;
  /** Its name changes with its content. */
  readonly hashed: boolean;
}

const TYPES: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.png': 'image/png',
  '.woff2': 'font/woff2',
};
const HASHED = /-[\w-]{8,}\.\w+$/;

/** Where the built page lies: `dist/page`. */
export const pageFolder = (): string => besideBundle('page');

/**
 * The built page as a fixed table, read once: what is asked for later can name nothing else on disk.
 * @returns by path of the address; null where no page was built
 */
export function readPageFiles(folder: string): ReadonlyMap<string, PageFile> | null {
  if (!existsSync(join(folder, 'index.html'))) return null;
  const files = new Map<string, PageFile>();
  for (const entry of readdirSync(folder, { recursive: true, withFileTypes: true })) {
    const type = TYPES[extname(entry.name)];
    if (!entry.isFile() || type === undefined) continue;
    const path = join(entry.parentPath, entry.name);
    files.set(`/${relative(folder, path).split(sep).join('/')}`, { type, bytes: readFileSync(path), hashed: HASHED.test(entry.name) });
  }
  files.set('/', files.get('/index.html')!);
  return files;
}
