import type { ClientIdentity } from '../peer-identity.ts';

/** What a request over HTTP comes in the name of: told from its bearer token alone, never from where it came. */
export interface Credential {
  /** One client of the owner's list, decided on like one that came by the socket; its id is made of the credential, not of a process. */
  readonly identity: ClientIdentity;
  /** What the owner or the client called it: only ever quoted. */
  readonly label: string | null;
}

/** Who holds which token. Tokens are kept as hashes, so this can say whose one is and never what it is. */
export interface Credentials {
  /** Null for a token that is unknown, revoked or over. @param token as it stood after `Bearer ` */
  credentialOf(token: string): Credential | null;
  /**
   * Whether a client holds anything to show still. What it opened goes on then, also where the very token that it was
   * opened with ran out since: a stream outlives an hour, and ends with what its owner takes back. @param id of the client
   */
  standsFor(id: string): boolean;
}
