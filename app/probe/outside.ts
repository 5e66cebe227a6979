import { cleanText } from '../events/text.ts';
import { openCommand } from './command-pipe.ts';
import { ProbeFailure } from './failure.ts';
import type { Network } from './http-exchange.ts';
import { HttpLink } from './http-link.ts';
import type { Link } from './link.ts';
import { TokenStore } from './oauth/token-store.ts';
import { Tokens } from './oauth/tokens.ts';
import { PipeLink } from './pipe-link.ts';
import type { Outside, Reach } from './probe.ts';
import type { Target } from './request.ts';

export interface OutsideOptions {
  /** Of the programs that are started. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly tokenFolder: string;
  /** A bearer token, from the environment. */
  readonly token: string | null;
  /** A registered client, from the environment. */
  readonly clientId: string | null;
  readonly network: Network;
}

const MAX_LINE = 1000;

/** Servers beyond Belfry's socket: programs that are started, and addresses that are asked. */
export function outsideOf({ env, tokenFolder, token, clientId, network }: OutsideOptions): Outside {
  const tokensFor = (target: Target, { deadline, clock, canLogin, note, secret }: Reach): Tokens => {
    if (target.kind !== 'http') throw new ProbeFailure('SERVER_URL_UNKNOWN', 'There is no server to log in to.');
    return new Tokens({ url: target.url, explicit: token, clientId, store: new TokenStore(tokenFolder), network, deadline, now: () => clock.now(), canLogin, note, secret });
  };
  return {
    async open(target, reach): Promise<Link> {
      if (target.kind === 'http') return new HttpLink({ url: target.url, version: reach.version, tokens: tokensFor(target, reach), network });
      return new PipeLink(await openCommand({ file: target.file, args: target.args, env, clock: reach.clock, deadline: reach.deadline, note: (line) => reach.note(cleanText(line, MAX_LINE)) }));
    },
    async login(target, reach) {
      await tokensFor(target, reach).login();
    },
    logout: (target, reach) => reach.deadline.within(tokensFor(target, reach).logout(), () => new ProbeFailure('AUTH_TIMEOUT', 'The authorization server did not answer in time.')),
  };
}
