import type { Clock } from '../events/clock.ts';
import { list, pollOnce } from './actions.ts';
import { Deadline } from './deadline.ts';
import { ProbeFailure, toFailure } from './failure.ts';
import type { Link } from './link.ts';
import { PipeLink, type Pipe } from './pipe-link.ts';
import { blank, finish, type Draft, type Finished } from './report.ts';
import type { Action, ProbeRequest } from './request.ts';
import { openSession, type Session } from './session.ts';
import { wait } from './wait.ts';

/** Where a probe runs: the command of a shell, or the engine on behalf of a helper. */
export interface ProbeHost {
  readonly clock: Clock;
  readonly version: string;
  /** A connection to Belfry as the client that asked. @param channel for the older handshake with a channel */
  openBelfry(channel: boolean, socket: string | null): Promise<Pipe>;
  /** A line of diagnosis, for stderr. */
  note(line: string): void;
  /** It runs inside the engine: nothing may be started or fetched there, since that would have Belfry's disk access. */
  readonly isHelper: boolean;
  /** Ends the probe early. */
  readonly interrupt?: AbortSignal;
}

/** Runs one probe to its report. Never throws. */
export async function runProbe(request: ProbeRequest, host: ProbeHost): Promise<Finished> {
  const { action, json } = request;
  const draft = blank(action.do);
  const deadline = new Deadline(request.timeoutMs, host.clock, host.interrupt);
  let link: Link | null = null;
  let failure: ProbeFailure | null = null;
  try {
    link = await deadline.within(openLink(request, host), () => new ProbeFailure('SERVER_TIMEOUT', 'No connection came about in time.'));
    const session = await openSession(link, {
      era: action.do === 'channel' ? 'legacy' : request.era, deadline, client: { name: 'belfry-probe', version: host.version }, isBelfry: request.target.kind === 'belfry',
    });
    await act(session, action, request, host, draft);
  } catch (error) {
    failure = toFailure(error);
  }
  if (failure !== null && 'route' in draft) draft.route = draft.route === 'timeout' ? draft.route : 'failed';
  await link?.close();
  deadline.close();
  if (failure !== null && !json) host.note(failure.message);
  return finish(action.do, draft, failure, json);
}

async function openLink(request: ProbeRequest, host: ProbeHost): Promise<Link> {
  return new PipeLink(await host.openBelfry(request.action.do === 'channel', request.target.kind === 'belfry' ? request.target.socket : null));
}

async function act(session: Session, action: Action, request: ProbeRequest, host: ProbeHost, draft: Draft<Action['do']>): Promise<void> {
  const options = { skipList: request.skipList, includeText: request.includeText, note: host.note };
  if ('era' in draft) {
    draft.era = session.version;
    draft.capabilities = session.capabilities;
  }
  switch (action.do) {
    case 'list':
      return list(session, draft as Draft<'list'>);
    case 'poll':
      return pollOnce(session, action, options, draft as Draft<'poll'>);
    case 'wait':
      return wait(session, action, options, draft as Draft<'wait'>);
  }
}
