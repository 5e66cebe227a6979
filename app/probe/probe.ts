import type { Clock } from '../events/clock.ts';
import { cleanText } from '../events/text.ts';
import { list, pollOnce } from './actions.ts';
import { call } from './call.ts';
import { channel } from './channel.ts';
import { openCommand } from './command-pipe.ts';
import { Deadline } from './deadline.ts';
import { ProbeFailure, toFailure } from './failure.ts';
import type { Network } from './http-exchange.ts';
import { HttpLink } from './http-link.ts';
import { shownUrl } from './http-status.ts';
import type { Link } from './link.ts';
import { TokenStore } from './oauth/token-store.ts';
import { Tokens } from './oauth/tokens.ts';
import { PipeLink, type Pipe } from './pipe-link.ts';
import { blank, finish, type Draft, type Finished } from './report.ts';
import type { Action, ProbeRequest } from './request.ts';
import { Secrets } from './secrets.ts';
import { openSession, type Session } from './session.ts';
import { wait } from './wait.ts';
import { watch } from './watch.ts';

/** What lies outside this process. The engine has none of it for a probe: it would run and fetch with Belfry's disk access. */
export interface Outside {
  /** Of the programs that are started. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tokenFolder: string;
  /** A bearer token, from the environment. */
  readonly token: string | null;
  readonly clientId: string | null;
  readonly network: Network;
}

/** Where a probe runs: the command of a shell, or the engine on behalf of a helper. */
export interface ProbeHost {
  readonly clock: Clock;
  readonly version: string;
  /** A connection to Belfry as the client that asked. @param channel for the older handshake with a channel */
  openBelfry(channel: boolean, socket: string | null): Promise<Pipe>;
  readonly outside: Outside | null;
  /** A line of diagnosis, for stderr. */
  note(line: string): void;
  /** Ends the probe early. */
  readonly interrupt?: AbortSignal;
}

const MAX_NOTE = 2000;

/** Runs one probe to its report. Never throws. */
export async function runProbe(request: ProbeRequest, host: ProbeHost): Promise<Finished> {
  const { action, json } = request;
  const secrets = new Secrets();
  const note = (line: string) => host.note(cleanText(secrets.clean(line), MAX_NOTE));
  const deadline = new Deadline(request.timeoutMs, host.clock, host.interrupt);
  const draft = blank(action.do);
  const failure = await new Run(request, { ...host, note }, deadline, secrets).run(draft).then(() => null, toFailure);
  deadline.close();
  if (failure !== null) {
    if ('route' in draft && draft.route !== 'timeout') draft.route = 'failed';
    if (!json) note(failure.message);
  }
  const finished = finish(action.do, draft, failure, json);
  return { ...finished, stdout: secrets.clean(finished.stdout) };
}

class Run {
  readonly #request: ProbeRequest;
  readonly #host: ProbeHost;
  readonly #deadline: Deadline;
  readonly #secrets: Secrets;

  constructor(request: ProbeRequest, host: ProbeHost, deadline: Deadline, secrets: Secrets) {
    this.#request = request;
    this.#host = host;
    this.#deadline = deadline;
    this.#secrets = secrets;
  }

  async run(draft: Draft<Action['do']>): Promise<void> {
    const { action, target, era } = this.#request;
    if (target.kind === 'http' && 'serverUrl' in draft) draft.serverUrl = shownUrl(target.url);
    if (action.do === 'login' || action.do === 'logout') return this.#account(action.do, draft);
    const link = await this.#deadline.within(this.#open(), () => new ProbeFailure('SERVER_TIMEOUT', 'No connection came about in time.'));
    try {
      const session = await openSession(link, {
        era: action.do === 'channel' ? 'legacy' : era, deadline: this.#deadline, client: { name: 'belfry-probe', version: this.#host.version }, isBelfry: target.kind === 'belfry',
      });
      if ('era' in draft) {
        draft.era = session.version;
        draft.capabilities = session.capabilities;
      }
      await this.#act(session, action, draft);
    } finally {
      await link.close();
    }
  }

  async #account(what: 'login' | 'logout', draft: Draft<Action['do']>): Promise<void> {
    const tokens = this.#tokens();
    if (what === 'login') {
      await tokens.login();
      (draft as Draft<'login'>).loggedIn = true;
    } else (draft as Draft<'logout'>).loggedOut = await this.#deadline.within(tokens.logout(), () => new ProbeFailure('AUTH_TIMEOUT', 'The authorization server did not answer in time.'));
  }

  async #open(): Promise<Link> {
    const { target, action } = this.#request;
    const { clock, version, note } = this.#host;
    switch (target.kind) {
      case 'belfry':
        return new PipeLink(await this.#host.openBelfry(action.do === 'channel', target.socket));
      case 'command':
        return new PipeLink(await openCommand({ file: target.file, args: target.args, env: this.#outside.env, clock, note }));
      case 'http':
        return new HttpLink({ url: target.url, version, tokens: this.#tokens(), network: this.#outside.network });
    }
  }

  get #outside(): Outside {
    const { outside } = this.#host;
    if (outside === null) throw new ProbeFailure('INVALID_ARGS', 'Through the helper only Belfry itself can be probed.');
    return outside;
  }

  #tokens(): Tokens {
    const { target, login } = this.#request;
    if (target.kind !== 'http') throw new ProbeFailure('SERVER_URL_UNKNOWN', 'There is no server to log in to.');
    const { token, clientId, tokenFolder, network } = this.#outside;
    return new Tokens({
      url: target.url, explicit: token, clientId, network, deadline: this.#deadline, now: () => this.#host.clock.now(), canLogin: login,
      store: new TokenStore(tokenFolder), note: (line) => this.#host.note(line), secret: (value) => this.#secrets.add(value),
    });
  }

  #act(session: Session, action: Action, draft: Draft<Action['do']>): Promise<void> {
    const { skipList, includeText } = this.#request;
    const options = { skipList, includeText, note: (line: string) => this.#host.note(line) };
    switch (action.do) {
      case 'list':
        return list(session, draft as Draft<'list'>);
      case 'poll':
        return pollOnce(session, action, options, draft as Draft<'poll'>);
      case 'wait':
        return wait(session, action, options, draft as Draft<'wait'>);
      case 'watch':
        return watch(session, action, options, draft as Draft<'watch'>);
      case 'call':
        return call(session, action, draft as Draft<'call'>);
      case 'channel':
        return channel(session, action, options.note, draft as Draft<'channel'>);
      case 'login':
      case 'logout':
        return Promise.resolve();
    }
  }
}
