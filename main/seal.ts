import { join } from 'node:path';
import { freshKey, keptKey, type KeyStorage } from './kept-key.ts';

export interface Seal {
  /** Base64 of 32 bytes for the engine; null: no seal, as in a headless engine. */
  readonly key: string | null;
  /** What is wrong with it, or null. */
  readonly sentence: string | null;
}

const FAULTS = {
  'no-keychain': "The keychain can't be used, so the settings can't be sealed.",
  unreadable: "The seal's key can't be read.",
  refused: "The keychain didn't open the seal's key.",
  'not-whole': "The seal's key is not whole.",
  'not-kept': "The seal's key can't be kept: the data folder can't be written to.",
} as const;

/**
 * The key of the settings' seal, handed to the engine over its port. Settings that were sealed with a key that is gone do not match
 * a new one. Without the keychain a packaged build seals with a key for this run only: settings sealed before then don't match and
 * everything is off, which is the safe side. A development build without a keychain has no seal.
 */
export function sealOf(dataDir: string, storage: KeyStorage, packaged: boolean): Seal {
  const kept = keptKey(join(dataDir, 'seal.key'), storage);
  return 'key' in kept ? { key: kept.key, sentence: null } : { key: packaged ? freshKey() : null, sentence: FAULTS[kept.fault] };
}
