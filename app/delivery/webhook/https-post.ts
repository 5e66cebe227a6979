import { lookup as systemLookup } from 'node:dns/promises';
import type { IncomingMessage } from 'node:http';
import { Agent, request } from 'node:https';
import { isIP, type LookupFunction } from 'node:net';
import { createSecureContext, rootCertificates } from 'node:tls';
import { callbackify } from 'node:util';
import type { Clock } from '../../events/clock.ts';
import { isLoopbackAddress, isPublicAddress } from './address-rules.ts';

/** What may be told of a receiver that failed: the category alone, never what it said (events-extension 8, 9.3). */
export type ReceiverFault = 'connection_refused' | 'timeout' | 'tls_error' | 'http_4xx' | 'http_5xx' | 'challenge_failed';

export interface Address {
  readonly address: string;
  readonly family: number;
}
export type Resolve = (hostname: string) => Promise<readonly Address[]>;

export type PostOutcome =
  | { readonly answered: true; readonly status: number; /** The first few KB. */ readonly body: Buffer }
  /** @property stale a connection that was kept open had been closed by the other side: nothing is wrong with the receiver */
  | { readonly answered: false; readonly fault: ReceiverFault; readonly stale: boolean };

/** For development and tests: receivers on this machine. The app that people install has no way to say it. */
export interface LoopbackReceivers {
  /** Certificates (PEM) that are trusted beside the usual ones. */
  readonly ca: string;
  /** Instead of the system's resolver. */
  readonly resolve?: Resolve;
}

/** A receiver has this long to answer, from the look-up of its name on. */
export const ANSWER_MS = 5000;
const MAX_ANSWER_BYTES = 4096;
/** A connection that nobody used for so long is closed; longer than any answer may take. */
const IDLE_MS = 2 * ANSWER_MS;
const MAX_SOCKETS = 16;

const NOT_PUBLIC = 'BELFRY_NOT_PUBLIC';
const resolveBySystem: Resolve = (hostname) => systemLookup(hostname, { all: true });

/**
 * POST over https to a name that somebody else chose. The name is looked up when a connection is made, every address that it
 * has must be public, and the connection goes to the very addresses that were looked at. No redirect is followed, no proxy is
 * taken from the environment, certificates are verified whatever the environment says.
 */
export class HttpsPosts {
  readonly #clock: Clock;
  readonly #agent: Agent;
  readonly #lookup: LookupFunction;
  #isClosed = false;

  constructor(clock: Clock, loopback: LoopbackReceivers | null) {
    this.#clock = clock;
    // An agent of our own: only the global one knows the environment's proxies.
    this.#agent = new Agent({
      keepAlive: true, maxSockets: MAX_SOCKETS, maxFreeSockets: MAX_SOCKETS, timeout: IDLE_MS, scheduling: 'lifo',
      // One for all connections: a list of authorities among the options would be compared with each request.
      rejectUnauthorized: true, secureContext: createSecureContext({ minVersion: 'TLSv1.2', ...(loopback && { ca: [...rootCertificates, loopback.ca] }) }),
    });
    this.#lookup = lookupOf(loopback?.resolve ?? resolveBySystem, (address) => isPublicAddress(address) || (loopback !== null && isLoopbackAddress(address)));
  }

  post(url: string, headers: Readonly<Record<string, string>>, body: Buffer): Promise<PostOutcome> {
    const target = new URL(url);
    // An address would be connected to without a look-up.
    if (this.#isClosed || target.protocol !== 'https:' || isIP(target.hostname) !== 0 || target.hostname.startsWith('[')) return Promise.resolve(failed('connection_refused'));
    return new Promise((resolve) => {
      const sent = request(target, {
        method: 'POST', agent: this.#agent, lookup: this.#lookup,
        headers: { ...headers, 'content-type': 'application/json', 'content-length': body.length, 'user-agent': 'Belfry' },
      });
      const end = (outcome: PostOutcome) => {
        disarm();
        resolve(outcome);
      };
      let status: number | null = null;
      const disarm = this.#clock.after(ANSWER_MS, () => {
        // An answer whose text drips is an answer all the same.
        end(status === null ? failed('timeout') : { answered: true, status, body: Buffer.alloc(0) });
        sent.destroy();
      });
      sent.on('error', (error: NodeJS.ErrnoException) => end(failed(faultOf(error), sent.reusedSocket && error.code === 'ECONNRESET')));
      sent.on('response', (answer) => {
        const code = answer.statusCode ?? 0;
        status = code;
        void firstBytes(answer).then((bytes) => {
          end({ answered: true, status: code, body: bytes });
          // More than is read: the connection is of no use any more.
          if (!answer.complete) sent.destroy();
        });
      });
      sent.end(body);
    });
  }

  close(): void {
    this.#isClosed = true;
    this.#agent.destroy();
  }
}

const failed = (fault: ReceiverFault, stale = false): PostOutcome => ({ answered: false, fault, stale });

function lookupOf(resolve: Resolve, isAllowed: (address: string) => boolean): LookupFunction {
  const allowed = async (hostname: string): Promise<readonly Address[]> => {
    const addresses = await resolve(hostname);
    // One that is not public among others is a name that plays a game.
    if (addresses.length === 0 || !addresses.every(({ address }) => isAllowed(address))) throw Object.assign(new Error('Not a public address'), { code: NOT_PUBLIC });
    return addresses;
  };
  const look = callbackify(allowed);
  return (hostname, { all, family: wanted }, done) => {
    look(hostname, (error, addresses) => {
      if (error) return done(error, '', 0);
      const fitting = addresses.filter(({ family }) => !wanted || wanted === family);
      const [first = addresses[0]!] = fitting;
      return all ? done(null, fitting.map(({ address, family }) => ({ address, family }))) : done(null, first.address, first.family);
    });
  };
}

const TLS_CODES = /^(?:ERR_TLS_|ERR_SSL_|EPROTO$|CERT_|CRL_|UNABLE_TO_|DEPTH_ZERO_|SELF_SIGNED_|HOSTNAME_MISMATCH|INVALID_CA|INVALID_PURPOSE|PATH_LENGTH_|ERROR_IN_CERT_|ERROR_IN_CRL_)/;

const faultOf = ({ code }: NodeJS.ErrnoException): ReceiverFault =>
  (code === 'ETIMEDOUT' || code === 'ESOCKETTIMEDOUT') ? 'timeout' : TLS_CODES.test(code ?? '') ? 'tls_error' : 'connection_refused';

/** Never rejects: a connection that breaks off under the answer still answered. */
function firstBytes(answer: IncomingMessage): Promise<Buffer> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = () => resolve(Buffer.concat(chunks).subarray(0, MAX_ANSWER_BYTES));
    answer.on('data', (chunk: Buffer) => {
      chunks.push(chunk);
      length += chunk.length;
      if (length > MAX_ANSWER_BYTES) end();
    });
    answer.on('end', end);
    answer.on('close', end);
    answer.on('error', end);
  });
}
