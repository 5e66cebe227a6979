import type { Shown } from '../../policy/credentials.ts';
import type { ClientIdentity } from '../peer-identity.ts';

/** What a request over HTTP comes in the name of: told from its bearer token alone, never from where it came. */
export interface Credential {
  /** One client of the owner's list, decided on like one that came by the socket; its id is made of the credential, not of a process. */
  readonly identity: ClientIdentity;
  /** What the owner or the client called it: only ever quoted. */
  readonly label: string | null;
  /** Which token it was. Of one client there may be several at a time. */
  readonly shown: Shown;
}

/** Who holds which token. Tokens are kept as hashes, so this can say whose one is and never what it is. */
export interface Credentials {
  /** Null for a token that is unknown, revoked or over. @param token as it stood after `Bearer ` */
  credentialOf(token: string): Credential | null;
  /**
   * Whether what was opened with a token goes on. A token that ran out, or was renewed, ends nothing: a stream outlives
   * an hour. It ends with what the owner takes back, and with what the program itself gave back.
   */
  holds(credential: Credential): boolean;
}
