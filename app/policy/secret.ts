import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';

/** What a secret is for stands in front of it: scanners for leaked secrets find it, and none is taken for another. */
export const SECRET_PREFIX = { token: 'belfry_', access: 'belfry_at_', refresh: 'belfry_rt_', code: 'belfry_code_' } as const;
export type SecretKind = keyof typeof SECRET_PREFIX;

const BYTES = 32;

/** 256 random bits. Whoever makes it hands it out once and keeps its hash. */
export const newSecret = (kind: SecretKind): string => SECRET_PREFIX[kind] + randomBytes(BYTES).toString('base64url');

/** SHA-256 as base64url: enough for a secret of full entropy, which no list of guesses contains. */
export const hashOf = (secret: string): string => createHash('sha256').update(secret).digest('base64url');

/** In constant time. Both are hashes as `hashOf` gives them. */
export function sameHash(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}

/** The 8 hex digits by which a client is known that shows a credential instead of a process. */
export const clientIdOf = (kind: 'token' | 'sign-in', of: string): string => createHash('sha256').update(`${kind}\n${of}`).digest('hex').slice(0, 8);

/** Hash -> what it stands for. Found by a part of the hash, told by all of it in constant time. */
export class HashIndex<T> {
  readonly #found = new Map<string, { readonly hash: string; readonly value: T }[]>();

  constructor(entries: Iterable<readonly [hash: string, value: T]>) {
    for (const [hash, value] of entries) this.#found.set(partOf(hash), [...(this.#found.get(partOf(hash)) ?? []), { hash, value }]);
  }

  find(hash: string): T | null {
    return this.#found.get(partOf(hash))?.find((entry) => sameHash(hash, entry.hash))?.value ?? null;
  }
}

const partOf = (hash: string): string => hash.slice(0, 8);
