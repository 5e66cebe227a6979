import { createHash } from 'node:crypto';
import type { Credential, Credentials } from '../endpoint/http/credential.ts';

/** Tokens of a test: the text after `Bearer ` is the token, and names its client. */
export class TestCredentials implements Credentials {
  readonly #revoked = new Set<string>();

  credentialOf(token: string): Credential | null {
    if (!token.startsWith('test-') || this.#revoked.has(token)) return null;
    return { identity: { id: clientOf(token), display: token, persistable: true, signed: false, process: null }, label: token, shown: { hash: token, family: null } };
  }

  holds({ shown }: Credential): boolean {
    return this.credentialOf(shown.hash) !== null;
  }

  revoke(token: string): void {
    this.#revoked.add(token);
  }
}

/** The id of the client that a test's token stands for. */
export const clientOf = (token: string): string => createHash('sha256').update(token).digest('hex').slice(0, 8);
