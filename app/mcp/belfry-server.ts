import { Server } from '@modelcontextprotocol/server';
import { channelInstructions, CHANNEL_LICENCE } from './channel.ts';
import { capabilitiesOf, type Declaration } from './emission.ts';
import { faultAnswer } from './fault-answer.ts';
import type { Session } from './session.ts';
import { EVENTS_LICENCE, LIST_CHANGED_LICENCE } from './stream.ts';

export interface ServerIdentity {
  readonly name: string;
  readonly version: string;
}

/** Of the initialize handshake and of the requests that describe themselves; with what came before, batches would come. */
const VERSIONS = ['2026-07-28', '2025-11-25', '2025-06-18'];
/** What changes is told on the connection, or by a listen stream. */
const TELLS: readonly Declaration[] = ['tools.listChanged', 'resources.listChanged', 'resources.subscribe'];
/** A stateless request of an older revision cannot be told anything later. */
const TELLS_NOTHING = { tools: { listChanged: false }, resources: { listChanged: false, subscribe: false } };

/** Listings and readings are this client's own, and on the socket may differ at the next look. */
const hint = (ttlMs: number) => ({ ttlMs, cacheScope: 'private' }) as const;
const hintsOf = (discovered: number, listed: number, read: number) => ({
  'server/discover': hint(discovered), 'tools/list': hint(discovered), 'resources/templates/list': hint(discovered), 'resources/list': hint(listed), 'resources/read': hint(read),
});
const HINTS = { socket: hintsOf(0, 0, 0), http: hintsOf(300_000, 60_000, 30_000) };

/** What a server says of itself in one era over one way in. */
export function declaredOf({ era, over, peer }: Pick<Session, 'era' | 'over' | 'peer'>): readonly Declaration[] {
  if (era === 'modern') return TELLS;
  if (over === 'http') return [];
  return peer.channel ? [...TELLS, CHANNEL_LICENCE] : TELLS;
}

/** What it says of itself is made of the same table as what it may send. `server/discover` answers from the policy of this moment. */
export class BelfryServer extends Server {
  readonly #session: Session;

  constructor(identity: ServerIdentity, session: Session, instructions: string | null) {
    const declared = declaredOf(session);
    super(identity, {
      capabilities: { tools: {}, resources: {}, ...(declared.length === 0 ? TELLS_NOTHING : capabilitiesOf(declared)) },
      cacheHints: HINTS[session.over],
      ...(session.over === 'http' && { supportedProtocolVersions: VERSIONS }),
      ...(instructions !== null && { instructions }),
    });
    this.#session = session;
    for (const name of declared) session.peer.connection.license(name);
  }

  // Called by the constructor of the SDK too, so the session is looked at only when a request comes.
  protected override _wrapHandler(...[method, handler]: Parameters<Server['_wrapHandler']>): ReturnType<Server['_wrapHandler']> {
    const wrapped = super._wrapHandler(method, handler);
    return async (request, context) => {
      try {
        return await wrapped(request, context);
      } catch (error) {
        throw faultAnswer(error, (fault) => this.#session.backend.fault(method, fault));
      }
    };
  }

  override getCapabilities() {
    const capabilities = super.getCapabilities();
    const { era, backend } = this.#session;
    if (era !== 'modern' || !backend.anyOn()) return capabilities;
    return { ...capabilities, ...capabilitiesOf(backend.webhooksOn ? [EVENTS_LICENCE, LIST_CHANGED_LICENCE] : [EVENTS_LICENCE]) };
  }
}

/** Only a session that can be a channel needs telling how its tags are read. */
export function channelText({ era, peer, backend }: Session): string | null {
  return era === 'legacy' && peer.channel ? channelInstructions(backend.types.filter((type) => backend.eventOn(type))) : null;
}
