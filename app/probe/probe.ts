import type { Clock } from '../events/clock.ts';
import { cleanText } from '../events/text.ts';
import { list, pollOnce } from './actions.ts';
import { call } from './call.ts';
import { channel } from './channel.ts';
import { Deadline } from './deadline.ts';
import { isLoss, ProbeFailure, toFailure } from './failure.ts';
import { shownUrl } from './http-status.ts';
import type { Link } from './link.ts';
import { PipeLink, type Pipe } from './pipe-link.ts';
import { blank, finish, type Draft, type Finished } from './report.ts';
import type { Action, Era, ProbeRequest, Target } from './request.ts';
import { Secrets } from './secrets.ts';
import { openSession, type Session } from './session.ts';
import { wait } from './wait.ts';
import { watch } from './watch.ts';

/** What of a run is needed to reach a server. */
export interface Reach {
  readonly clock: Clock;
  readonly version: string;
  readonly deadline: Deadline;
  /** A person is there to log in. */
  readonly canLogin: boolean;
  note(line: string): void;
  /** What must never be printed. */
  secret(value: string): void;
}

/** Servers other than Belfry. The engine has none of them for a probe: it would run and fetch with its own disk access. */
export interface Outside {
  open(target: Exclude<Target, { kind: 'belfry' }>, reach: Reach): Promise<Link>;
  login(target: Target, reach: Reach): Promise<void>;
  /** @returns whether there was a token */
  logout(target: Target, reach: Reach): Promise<boolean>;
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
  readonly #reach: Reach;

  constructor(request: ProbeRequest, host: ProbeHost, deadline: Deadline, secrets: Secrets) {
    this.#request = request;
    this.#host = host;
    this.#deadline = deadline;
    const { clock, version, note } = host;
    this.#reach = { clock, version, deadline, canLogin: request.login, note, secret: (value) => secrets.add(value) };
  }

  async run(draft: Draft<Action['do']>): Promise<void> {
    const { action, target, era } = this.#request;
    if (target.kind === 'http' && 'serverUrl' in draft) draft.serverUrl = shownUrl(target.url);
    if (action.do === 'login') {
      await this.#outside.login(target, this.#reach);
      (draft as Draft<'login'>).loggedIn = true;
      return;
    }
    if (action.do === 'logout') {
      (draft as Draft<'logout'>).loggedOut = await this.#outside.logout(target, this.#reach);
      return;
    }
    const session = await this.#session(action.do === 'channel' ? 'legacy' : era);
    try {
      if ('era' in draft) {
        draft.era = session.version;
        draft.capabilities = session.capabilities;
      }
      await this.#act(session, action, draft);
    } finally {
      await session.link.close();
    }
  }

  async #session(era: Era): Promise<Session> {
    const { target } = this.#request;
    const link = await this.#deadline.within(this.#open(), () => new ProbeFailure('SERVER_TIMEOUT', 'No connection came about in time.'));
    try {
      return await openSession(link, { era, deadline: this.#deadline, client: { name: 'belfry-probe', version: this.#host.version }, isBelfry: target.kind === 'belfry' });
    } catch (error) {
      await link.close();
      // Some older programs end at a first message that they do not know.
      if (era === 'auto' && target.kind === 'command' && isLoss(error)) return this.#session('legacy');
      throw error;
    }
  }

  async #open(): Promise<Link> {
    const { target, action } = this.#request;
    if (target.kind === 'belfry') return new PipeLink(await this.#host.openBelfry(action.do === 'channel', target.socket));
    return this.#outside.open(target, this.#reach);
  }

  get #outside(): Outside {
    const { outside } = this.#host;
    if (outside === null) throw new ProbeFailure('INVALID_ARGS', 'Through the helper only Belfry itself can be probed.');
    return outside;
  }

  #act(session: Session, action: Exclude<Action, { do: 'login' | 'logout' }>, draft: Draft<Action['do']>): Promise<void> {
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
    }
  }
}
