import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface TempFolder extends Disposable {
  readonly path: string;
  /** Path below the folder. */
  at(...parts: string[]): string;
  remove(): void;
}

/** A new folder below the system's temporary folder; removed by `remove`, by `using`, or when the process ends. */
export function tempFolder(label = 'belfry'): TempFolder {
  // The real path: file watchers report it, and on macOS the temporary folder is a link.
  const path = realpathSync(mkdtempSync(join(tmpdir(), `${label}-`)));
  const remove = (): void => {
    rmSync(path, { recursive: true, force: true, maxRetries: 3 });
    process.off('exit', remove);
  };
  process.on('exit', remove);
  return { path, at: (...parts) => join(path, ...parts), remove, [Symbol.dispose]: remove };
}
