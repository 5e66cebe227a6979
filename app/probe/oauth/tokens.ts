import type { Deadline } from '../deadline.ts';
import { ProbeFailure } from '../failure.ts';
import type { Network } from '../http-exchange.ts';
import type { TokenSource } from '../http-link.ts';
import { deviceEndpoint, deviceLogin, refresh, register, UnknownClient, type LoginOptions } from './device-login.ts';
import { bare, discoverAuthority } from './discovery.ts';
import { OAuthHttp, requireSafe } from './oauth-http.ts';
import type { StoredTokens, TokenStore } from './token-store.ts';

/** A token is renewed so long before it ends, or at half of a short life. */
const EARLY_MS = 300_000;

export interface TokensOptions {
  readonly url: URL;
  /** `MCP_PROBE_AUTH_TOKEN`: it wins, and the cache is not even looked at. */
  readonly explicit: string | null;
  /** `MCP_PROBE_CLIENT_ID`: a client that is registered already. */
  readonly clientId: string | null;
  readonly store: TokenStore;
  readonly network: Network;
  readonly deadline: Deadline;
  readonly now: () => number;
  /** A person is there to log in. */
  readonly canLogin: boolean;
  note(line: string): void;
  secret(value: string): void;
}

/** Which token goes along: the explicit one, else one that is kept and fresh, else a renewed one, else a new login where that is allowed. */
export class Tokens implements TokenSource {
  readonly #options: TokensOptions;
  readonly #resource: string;
  #kept: StoredTokens | null = null;
  #isReady = false;

  constructor(options: TokensOptions) {
    this.#options = options;
    this.#resource = bare(options.url);
    if (options.explicit !== null) options.secret(options.explicit);
  }

  async current(): Promise<string | null> {
    const { explicit, url } = this.#options;
    if (explicit === null && !this.#isReady) await this.#prepare();
    const token = explicit ?? this.#kept?.accessToken ?? null;
    if (token !== null) requireSafe(url);
    return token;
  }

  async renew(refused: string): Promise<boolean> {
    const { explicit, canLogin } = this.#options;
    if (explicit !== null || this.#kept === null) return false;
    await this.#inTime(() => this.#renewKept(refused, canLogin));
    return true;
  }

  /** A login in any case. */
  login(): Promise<void> {
    return this.#inTime(() => this.#login());
  }

  /** Forgets the tokens here, and asks the authority to forget them too. @returns whether there were any */
  async logout(): Promise<boolean> {
    const { store, secret } = this.#options;
    const kept = store.read(this.#resource);
    if (!store.remove(this.#resource)) return false;
    if (kept === null) return true;
    for (const value of [kept.accessToken, kept.refreshToken]) if (value !== null) secret(value);
    await this.#revoke(kept).catch(() => this.#options.note('The server could not be told; the token is forgotten here.'));
    return true;
  }

  async #revoke(kept: StoredTokens): Promise<void> {
    const { authority, http } = await this.#authority();
    if (authority.revocationEndpoint === null || authority.issuer !== kept.issuer) return;
    const token = kept.refreshToken ?? kept.accessToken;
    await http.post(authority.revocationEndpoint, { form: { token, client_id: kept.clientId, client_secret: kept.clientSecret } });
  }

  async #prepare(): Promise<void> {
    const { store, canLogin, now, secret } = this.#options;
    this.#isReady = true;
    this.#kept = store.read(this.#resource);
    if (this.#kept !== null) {
      secret(this.#kept.accessToken);
      if (this.#kept.refreshToken !== null) secret(this.#kept.refreshToken);
    }
    if (this.#kept !== null && isFresh(this.#kept, now())) return;
    if (this.#kept !== null) await this.#inTime(() => this.#renewKept(this.#kept!.accessToken, canLogin));
    else if (canLogin) await this.login();
  }

  /** @param stale the access token that is of no use any more */
  async #renewKept(stale: string, canLogin: boolean): Promise<void> {
    const { store, deadline, now } = this.#options;
    const letGo = await store.lock(this.#resource, deadline);
    try {
      // Another process may have done it while this one waited.
      const kept = store.read(this.#resource);
      if (kept !== null && kept.accessToken !== stale && isFresh(kept, now())) {
        this.#keep(kept, false);
        return;
      }
      if (kept === null || kept.refreshToken === null) throw new ProbeFailure('AUTH_LOGIN_REQUIRED', 'The login is over.');
      this.#keep(await refresh(kept, await this.#authority(kept.issuer)), true);
    } catch (error) {
      if (!(error instanceof ProbeFailure) || error.code !== 'AUTH_LOGIN_REQUIRED' || !canLogin) throw error;
      await this.#login();
    } finally {
      letGo();
    }
  }

  async #login(): Promise<void> {
    const { clientId, store } = this.#options;
    const login = await this.#authority();
    deviceEndpoint(login.authority);
    const kept = store.read(this.#resource);
    const known = clientId !== null ? { id: clientId, secret: null } : kept?.issuer === login.authority.issuer ? { id: kept.clientId, secret: kept.clientSecret } : null;
    try {
      this.#keep(await deviceLogin(known ?? (await register(login)), login), true);
    } catch (error) {
      if (!(error instanceof UnknownClient) || known === null || clientId !== null) throw error;
      this.#keep(await deviceLogin(await register(login), login), true);
    }
  }

  /** @param issuer that must still be the one, since a refresh token is for it alone */
  async #authority(issuer?: string): Promise<LoginOptions> {
    const { url, network, deadline, now, note, secret } = this.#options;
    const http = new OAuthHttp(network, deadline.signal);
    const authority = await discoverAuthority(url, http);
    if (issuer !== undefined && authority.issuer !== issuer) throw new ProbeFailure('AUTH_LOGIN_REQUIRED', 'The server has another authorization server by now.');
    return { authority, http, deadline, now, note, secret };
  }

  #keep(tokens: StoredTokens, isNew: boolean): void {
    // Under the address that was asked for, whatever wider one the server names itself.
    const kept = { ...tokens, resource: this.#resource };
    if (isNew) this.#options.store.write(kept);
    for (const value of [kept.accessToken, kept.refreshToken, kept.clientSecret]) if (value !== null) this.#options.secret(value);
    this.#kept = kept;
    this.#isReady = true;
  }

  #inTime<T>(work: () => Promise<T>): Promise<T> {
    return this.#options.deadline.meanwhile(work, () => new ProbeFailure('AUTH_TIMEOUT', 'The authorization server did not answer in time.'));
  }
}

function isFresh({ obtainedAt, expiresAt }: StoredTokens, now: number): boolean {
  return expiresAt === null || expiresAt - now > Math.min(EARLY_MS, (expiresAt - obtainedAt) / 2);
}
