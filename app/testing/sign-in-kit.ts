import { createHash, randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { request as httpRequest, type Agent, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { HttpEndpoint } from '../endpoint/http/http-endpoint.ts';
import { OAuthRoutes } from '../endpoint/oauth/oauth-routes.ts';
import type { Policy } from '../policy/policy.ts';
import type { SignInAsk } from '../policy/sign-ins.ts';
import { HandClock, policyIn } from '../policy/testing.ts';
import { tempFolder } from './temp.ts';

export interface Answer {
  readonly status: number;
  readonly headers: IncomingHttpHeaders;
  readonly text: string;
  readonly json: Record<string, any>;
}

export interface Sent {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  /** Keeps connections; without it each request has its own. */
  readonly agent?: Agent;
}

/** One request as its bytes say, without a browser's or a library's own ideas. */
export async function send(origin: string, path: string, { method = 'GET', headers = {}, body, agent }: Sent = {}): Promise<Answer> {
  const request = httpRequest(origin, { path, method, headers, agent: agent ?? false });
  request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) text += chunk as string;
  return { status: response.statusCode!, headers: response.headers, text, json: text.startsWith('{') ? (JSON.parse(text) as Record<string, any>) : {} };
}

export const REDIRECT = 'http://127.0.0.1:3999/callback';

class ListenerClock extends HandClock {
  override every(): () => void {
    return () => undefined;
  }
}

/** The listener with the real policy behind it, a clock moved by hand and no store. */
export class SignInWorld implements AsyncDisposable {
  readonly #folder = tempFolder();
  readonly clock = new ListenerClock();
  readonly policy: Policy;
  readonly asked: SignInAsk[] = [];
  readonly faults: unknown[] = [];
  readonly #endpoint: HttpEndpoint;

  private constructor(host: 'app' | 'headless') {
    this.policy = policyIn(this.#folder.path, { clock: this.clock }).policy;
    const fault = (error: unknown) => this.faults.push(error);
    this.#endpoint = new HttpEndpoint({
      handler: { serve: () => { throw new Error('Nothing is served here'); }, away: () => undefined, fault },
      credentials: this.policy.credentials, clock: this.clock,
      routes: new OAuthRoutes({ signIns: this.policy.signIns, clock: this.clock, host, asked: (ask) => this.asked.push(ask), fault }),
    });
  }

  static async start(host: 'app' | 'headless' = 'app'): Promise<SignInWorld> {
    const world = new SignInWorld(host);
    await world.#endpoint.listen(0);
    return world;
  }

  get origin(): string {
    return this.#endpoint.origin;
  }
  get resource(): string {
    return `${this.origin}/mcp`;
  }
  send(path: string, sent?: Sent): Promise<Answer> {
    return send(this.origin, path, sent);
  }

  register(body: unknown = { redirect_uris: [REDIRECT], client_name: 'my-agent' }, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.send('/oauth/register', { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: typeof body === 'string' ? body : JSON.stringify(body) });
  }

  /** A program that registered, with a verifier of its own. */
  async program(redirect = REDIRECT, name = 'my-agent'): Promise<Program> {
    const { json } = await this.register({ redirect_uris: [redirect], client_name: name });
    return new Program(this, json['client_id'] as string, redirect);
  }

  form(path: string, fields: Readonly<Record<string, string>> | string, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const body = typeof fields === 'string' ? fields : new URLSearchParams(fields).toString();
    return this.send(path, { method: 'POST', headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers }, body });
  }

  /** The owner's answer to the one that waits longest. */
  answer(accept: boolean, options = {}): void {
    const [entry] = this.policy.snapshot().waiting;
    const outcome = this.policy.answer(entry!.id, accept, options);
    if (!outcome.ok) throw new Error(outcome.message);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#endpoint.close(null);
    this.policy.close();
    this.#folder.remove();
  }
}

/** What a program and its browser do, step by step. */
export class Program {
  readonly #world: SignInWorld;
  readonly clientId: string;
  readonly redirect: string;
  readonly verifier = randomBytes(32).toString('base64url');
  readonly state = randomBytes(9).toString('base64url');

  constructor(world: SignInWorld, clientId: string, redirect: string) {
    this.#world = world;
    this.clientId = clientId;
    this.redirect = redirect;
  }

  get query(): Record<string, string> {
    return {
      response_type: 'code', client_id: this.clientId, redirect_uri: this.redirect, state: this.state, resource: this.#world.resource,
      code_challenge: createHash('sha256').update(this.verifier).digest('base64url'), code_challenge_method: 'S256',
    };
  }

  /** The page. @param changed undefined: left out */
  browse(changed: Readonly<Record<string, string | undefined>> = {}, headers: Readonly<Record<string, string>> = {}): Promise<Answer> {
    const query = Object.entries({ ...this.query, ...changed }).filter((each): each is [string, string] => each[1] !== undefined);
    return this.#world.send(`/oauth/authorize?${new URLSearchParams(query).toString()}`, { headers });
  }

  /** Asks, is allowed, and comes back with a code. */
  async code(options = {}): Promise<string> {
    const page = await this.browse();
    if (page.status !== 200) throw new Error(page.text);
    this.#world.answer(true, options);
    const { headers } = await this.browse();
    return new URL(headers.location!).searchParams.get('code')!;
  }

  redeem(code: string, changed: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#world.form('/oauth/token', {
      grant_type: 'authorization_code', code, redirect_uri: this.redirect, client_id: this.clientId, code_verifier: this.verifier, resource: this.#world.resource, ...changed,
    });
  }

  refresh(token: string, changed: Readonly<Record<string, string>> = {}): Promise<Answer> {
    return this.#world.form('/oauth/token', { grant_type: 'refresh_token', refresh_token: token, client_id: this.clientId, ...changed });
  }

  async signIn(options = {}): Promise<{ readonly access: string; readonly refresh: string }> {
    const { json } = await this.redeem(await this.code(options));
    return { access: json['access_token'] as string, refresh: json['refresh_token'] as string };
  }
}
