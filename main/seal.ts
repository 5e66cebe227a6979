import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { SafeStorage } from 'electron';

export interface Seal {
  /** Base64 of 32 bytes for the engine; null: no seal, as in a headless engine. */
  readonly key: string | null;
  /** What is wrong with it, or null. */
  readonly sentence: string | null;
}

/**
 * The key of the settings' seal: made once, kept encrypted by the system's keychain, handed to the engine over its port.
 * Without the keychain a packaged build seals with a key for this run only: settings sealed before then don't match and
 * everything is off, which is the safe side. A development build without a keychain has no seal.
 */
export function sealOf(dataDir: string, storage: Pick<SafeStorage, 'isEncryptionAvailable' | 'encryptString' | 'decryptString'>, packaged: boolean): Seal {
  const unsealed = (sentence: string): Seal => ({ key: packaged ? freshKey() : null, sentence });
  if (!storage.isEncryptionAvailable()) return unsealed("The keychain can't be used, so the settings can't be sealed.");
  const file = join(dataDir, 'seal.key');
  let kept: Buffer;
  try {
    kept = readFileSync(file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') return unsealed("The seal's key can't be read.");
    const key = freshKey();
    try {
      // Settings that were sealed with a key that is gone do not match this one.
      writeFileSync(file, storage.encryptString(key), { mode: 0o600, flag: 'wx' });
    } catch {
      return unsealed("The seal's key can't be kept: the data folder can't be written to.");
    }
    return { key, sentence: null };
  }
  try {
    const key = storage.decryptString(kept);
    return Buffer.from(key, 'base64').length === KEY_BYTES ? { key, sentence: null } : unsealed("The seal's key is not whole.");
  } catch {
    return unsealed("The keychain didn't open the seal's key.");
  }
}

const KEY_BYTES = 32;
const freshKey = (): string => randomBytes(KEY_BYTES).toString('base64');
