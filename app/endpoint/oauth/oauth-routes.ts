import type { IncomingMessage, ServerResponse } from 'node:http';
import { isJsonContentType } from '@modelcontextprotocol/server';
import type { Clock } from '../../events/clock.ts';
import type { SignInAsk, SignIns } from '../../policy/sign-ins.ts';
import { answerBytes, answerEmpty, answerJson, COMMON_HEADERS } from '../http/answer.ts';
import { readBody } from '../http/body.ts';
import { corsOf, isPreflight, originOf, preflightHeaders } from '../http/gate.ts';
import type { HttpRoutes, TokenProblem } from '../http/routes.ts';
import { Authorizations, type Authorization } from './authorizations.ts';
import { readAuthorize, type AuthorizeRequest } from './authorize-request.ts';
import { Codes } from './codes.ts';
import { challengeOf, metadataAt, PATHS, resourceOf } from './metadata.ts';
import { answerError, isError, tooOften, type OAuthError } from './oauth-error.ts';
import { sameRedirect, withAnswer } from './redirect-uri.ts';
import { Registrations } from './registrations.ts';
import { readRegistration, registrationAnswer } from './registration.ts';
import { deniedPage, endedPage, faultPage, PAGE_HEADERS, refusedPage, waitingPage, type Host, type Page } from './sign-in-page.ts';
import { TokenEndpoint } from './token-endpoint.ts';

const MAX_BODY_BYTES = 16_384;
const FORM_TYPE = 'application/x-www-form-urlencoded';
/** When a page of too many looks again. */
const RETRY_MS = 10_000;
/** Names of this machine by which a client may know the listener. */
const NAMES = ['127.0.0.1', 'localhost', '[::1]'];

export interface OAuthOptions {
  readonly signIns: SignIns;
  readonly clock: Clock;
  /** Where the owner answers: what the page says of it. */
  readonly host: Host;
  /** A new request waits for the owner. */
  asked(ask: SignInAsk): void;
  /** A fault of ours, for the log. */
  fault(error: unknown): void;
}

/**
 * The authorization server that MCP clients discover by themselves, beside `/mcp` on the same listener. It decides nothing:
 * a request waits for the owner, who answers in Belfry, and the browser is sent nowhere before.
 */
export class OAuthRoutes implements HttpRoutes {
  readonly #options: OAuthOptions;
  readonly #registrations: Registrations;
  readonly #authorizations: Authorizations;
  readonly #tokens: TokenEndpoint;
  /** Of the listener; known with the first request. */
  #port = '';

  constructor(options: OAuthOptions) {
    this.#options = options;
    const { signIns, clock } = options;
    const codes = new Codes(clock);
    this.#registrations = new Registrations(clock);
    this.#authorizations = new Authorizations(signIns, codes, clock);
    this.#tokens = new TokenEndpoint({ signIns, codes, registrations: this.#registrations, clock, isOurs: (resource) => this.#isOurs(resource) });
  }

  challenge(problem: TokenProblem, origin: string): string {
    return challengeOf(problem, origin);
  }

  handle(request: IncomingMessage, response: ServerResponse, url: URL): boolean {
    this.#port = url.port;
    const origin = originOf(request, url.port);
    const cors = corsOf(request);
    const document = metadataAt(url.pathname, origin);
    const method = document !== null || url.pathname === PATHS.authorize || url.pathname === PATHS.wait ? 'GET' : 'POST';
    const isOurs = document !== null || Object.values<string>(PATHS).includes(url.pathname);
    if (!isOurs) return false;
    const isForPages = url.pathname !== PATHS.authorize && url.pathname !== PATHS.wait;
    if (isForPages && isPreflight(request)) answerEmpty(response, 204, preflightHeaders(request, method));
    else if (request.method !== method) answerJson(response, 405, { error: 'invalid_request', error_description: `This address takes ${method} only` }, { ...cors, allow: method });
    else if (document !== null) answerJson(response, 200, document, cors);
    else if (url.pathname === PATHS.authorize) this.#authorize(request, response, url, origin);
    else if (url.pathname === PATHS.wait) this.#wait(response, url);
    else void this.#post(request, response, url).catch((error: unknown) => {
      this.#options.fault(error);
      answerError(response, { status: 500, error: 'temporarily_unavailable', description: 'Belfry could not do this. Its log says more' }, cors);
    });
    return true;
  }

  async #post(request: IncomingMessage, response: ServerResponse, url: URL): Promise<void> {
    const cors = corsOf(request);
    const refuse = (fault: OAuthError) => answerError(response, fault, cors);
    const isRegister = url.pathname === PATHS.register;
    const type = request.headers['content-type'] ?? '';
    const fits = isRegister ? isJsonContentType(type) : type.split(';')[0]!.trim().toLowerCase() === FORM_TYPE;
    if (!fits) return refuse({ status: 415, error: 'invalid_request', description: `Content-Type: must be ${isRegister ? 'application/json' : FORM_TYPE}` });
    // Parameters in the address would lie in logs (RFC 6749, 3.2).
    if (url.search !== '') return refuse({ status: 400, error: 'invalid_request', description: 'Parameters belong into the body' });
    const wait = isRegister ? this.#registrations.take() : 0;
    if (wait > 0) return refuse(tooOften(wait));
    const body = await readBody(request, MAX_BODY_BYTES);
    if ('fault' in body) {
      if (body.fault === 'aborted') return undefined;
      const isLarge = body.fault === 'too-large';
      return refuse({ status: isLarge ? 413 : 400, error: 'invalid_request', description: isLarge ? `The body must be at most ${MAX_BODY_BYTES} bytes` : 'The body is not UTF-8' });
    }
    if (isRegister) return this.#register(body.text, response, cors, refuse);
    const form = new URLSearchParams(body.text);
    const { authorization } = request.headers;
    const answer = url.pathname === PATHS.token ? this.#tokens.token(form, authorization) : this.#tokens.revoke(form, authorization);
    if (answer === null) return answerEmpty(response, 200, cors);
    return isError(answer) ? refuse(answer) : answerJson(response, 200, answer, { ...cors, pragma: 'no-cache' });
  }

  #register(text: string, response: ServerResponse, cors: Readonly<Record<string, string>>, refuse: (fault: OAuthError) => void): void {
    const registration = readRegistration(text);
    if (isError(registration)) return refuse(registration);
    this.#registrations.add(registration);
    answerJson(response, 201, registrationAnswer(registration, this.#options.clock.now()), cors);
  }

  #authorize(request: IncomingMessage, response: ServerResponse, url: URL, issuer: string): void {
    // A page that a person looks at, and nothing that another page pulls in.
    const destination = request.headers['sec-fetch-dest'];
    if (request.headers.origin !== undefined || (destination !== undefined && destination !== 'document')) {
      return show(response, faultPage(403, 'Not here', 'A sign-in is opened as a page of its own, not from within another.'));
    }
    const read = readAuthorize(url.searchParams);
    if (typeof read === 'string') return show(response, faultPage(400, 'This sign-in cannot go on', `${read}.`));
    const known = this.#authorizations.find(read, issuer);
    if (known !== null) return this.#goOn(known, response);
    const opened = this.#open(read, issuer);
    if ('html' in opened) return show(response, opened);
    this.#options.asked(opened.ask);
    return this.#goOn(opened, response);
  }

  #open(request: AuthorizeRequest, issuer: string): Authorization | Page {
    const registration = this.#options.signIns.registered(request.clientId) ?? this.#registrations.find(request.clientId);
    if (registration === null) return faultPage(400, 'This sign-in cannot go on', 'client_id: is not registered here, or no longer. Start the sign-in again in the program.');
    if (!registration.redirects.some((each) => sameRedirect(each, request.redirectUri))) return faultPage(400, 'This sign-in cannot go on', 'redirect_uri: is not one that the program registered.');
    if (request.resource !== null && !this.#isOurs(request.resource)) return faultPage(400, 'This sign-in cannot go on', `resource: must be ${resourceOf(issuer)}.`);
    const opened = this.#authorizations.open(request, registration, issuer);
    return typeof opened === 'string' ? refusedPage(opened) : opened;
  }

  #goOn(authorization: Authorization, response: ServerResponse): void {
    const { state, request, issuer, ask } = authorization;
    switch (state) {
      case 'waiting':
        return show(response, waitingPage(authorization, this.#options.host, Math.max(1, Math.ceil((ask.expiresAt - this.#options.clock.now()) / 60_000))));
      case 'denied':
        return show(response, deniedPage(authorization));
      case 'allowed': {
        const location = withAnswer(request.redirectUri, { code: this.#authorizations.hand(authorization), state: request.state, iss: issuer });
        const { 'content-type': _, ...headers } = PAGE_HEADERS;
        return answerEmpty(response, 302, { ...headers, location });
      }
      default:
        return show(response, endedPage(state));
    }
  }

  /** Server-sent events for a page that waits: one word, and the end. */
  #wait(response: ServerResponse, url: URL): void {
    const stop = this.#authorizations.watch(url.searchParams.get('id') ?? '', () => {
      begin();
      response.end('event: decided\ndata: \n\n');
    });
    // To the page this is the end of its stream: it loads itself again and is told what became of it.
    if (stop === 'unknown') return answerEmpty(response, 204);
    begin();
    if (stop === 'full') return void response.end(`retry: ${RETRY_MS}\n\n`);
    response.on('close', stop);

    function begin(): void {
      if (!response.headersSent) response.writeHead(200, { ...COMMON_HEADERS, 'content-type': 'text/event-stream', 'cross-origin-resource-policy': 'same-origin' }).flushHeaders();
    }
  }

  /** By whichever name of this machine. */
  #isOurs(resource: string): boolean {
    return NAMES.some((name) => resource === resourceOf(`http://${name}:${this.#port}`));
  }
}

function show(response: ServerResponse, { status, html, headers }: Page): void {
  answerBytes(response, status, html, { ...COMMON_HEADERS, ...PAGE_HEADERS, ...headers });
}
