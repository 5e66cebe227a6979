import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { keptKey, type KeyStorage } from './kept-key.ts';

/**
 * The key of the search index, or null: then there is no index. A key that is not whole is replaced: the index is a copy of what Mail
 * has, and is made anew. One that the keychain does not open is left alone: the owner may have refused this once.
 */
export function searchKeyOf(dataDir: string, storage: KeyStorage): string | null {
  const file = join(dataDir, 'search.key');
  let kept = keptKey(file, storage);
  if ('fault' in kept && kept.fault === 'not-whole') {
    rmSync(file, { force: true });
    kept = keptKey(file, storage);
  }
  return 'key' in kept ? kept.key : null;
}
