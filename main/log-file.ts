import { appendFileSync, mkdirSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';

const MAX_BYTES = 1_000_000;

/**
 * The shell's log: counts, ids and kinds, never an address, a subject or a path of mail. One older file is kept.
 * @param now Unix ms
 */
export function logFile(dataDir: string, now: () => number): (line: string) => void {
  const folder = join(dataDir, 'logs');
  const file = join(folder, 'belfry.log');
  let size = -1;
  return (line) => {
    const text = `${new Date(now()).toISOString()} ${line.replaceAll('\n', ' ')}\n`;
    try {
      if (size < 0) {
        mkdirSync(folder, { recursive: true, mode: 0o700 });
        size = statSync(file, { throwIfNoEntry: false })?.size ?? 0;
      }
      if (size > MAX_BYTES) {
        renameSync(file, `${file}.1`);
        size = 0;
      }
      appendFileSync(file, text, { mode: 0o600 });
      size += text.length;
    } catch {
      // A log that can't be written must not stop what it would tell of.
    }
  };
}

/** What may be said of an unexpected error: its class, its code and where in our own code it came up; never its message. */
export function faultLine(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as NodeJS.ErrnoException;
  const frame = /\n\s+at (?:async )?([\w.#<>]+) .*?([\w-]+\.[cm]?[jt]s):(\d+)/.exec(error.stack ?? '');
  return `${error.name}${code === undefined ? '' : ` ${code}`}${frame ? ` in ${frame[1]} (${frame[2]}:${frame[3]})` : ''}`;
}
