import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import type { SafeStorage } from 'electron';

export type KeyStorage = Pick<SafeStorage, 'isEncryptionAvailable' | 'encryptString' | 'decryptString'>;

export type KeptKey =
  /** Base64 of 32 bytes. */
  | { readonly key: string }
  | { readonly fault: 'no-keychain' | 'unreadable' | 'refused' | 'not-whole' | 'not-kept' };

const KEY_BYTES = 32;
export const freshKey = (): string => randomBytes(KEY_BYTES).toString('base64');

/** A key that is made once and kept in a file, encrypted by the system's keychain. */
export function keptKey(file: string, storage: KeyStorage): KeptKey {
  if (!storage.isEncryptionAvailable()) return { fault: 'no-keychain' };
  let kept: Buffer;
  try {
    kept = readFileSync(file);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT' ? keep(file, storage) : { fault: 'unreadable' };
  }
  try {
    const key = storage.decryptString(kept);
    return Buffer.from(key, 'base64').length === KEY_BYTES ? { key } : { fault: 'not-whole' };
  } catch {
    return { fault: 'refused' };
  }
}

function keep(file: string, storage: KeyStorage): KeptKey {
  const key = freshKey();
  try {
    writeFileSync(file, storage.encryptString(key), { mode: 0o600, flag: 'wx' });
    return { key };
  } catch {
    return { fault: 'not-kept' };
  }
}
