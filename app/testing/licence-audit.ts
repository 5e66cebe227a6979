/**
 * What has to stand in the handshake before a server may send a method: from the specifications, not from the code
 * under test. A method that is not here may never be sent.
 */
type Capabilities = Record<string, any>;

export interface LicenceRule {
  /** Null: not by a declaration, but by a request of the client that is open. */
  readonly declared: ((capabilities: Capabilities) => boolean) | null;
  readonly era: 'legacy' | 'modern' | 'both';
}

const events: LicenceRule = { declared: (capabilities) => capabilities['extensions']?.['io.modelcontextprotocol/events'] !== undefined, era: 'modern' };

export const licenceRules: Readonly<Record<string, LicenceRule>> = {
  'notifications/events/active': events,
  'notifications/events/event': events,
  'notifications/events/heartbeat': events,
  'notifications/events/error': events,
  'notifications/events/terminated': events,
  'notifications/events/list_changed': { declared: (capabilities) => capabilities['extensions']?.['io.modelcontextprotocol/events']?.listChanged === true, era: 'modern' },
  'notifications/claude/channel': { declared: (capabilities) => capabilities['experimental']?.['claude/channel'] !== undefined, era: 'legacy' },
  'notifications/tools/list_changed': { declared: (capabilities) => capabilities['tools']?.listChanged === true, era: 'both' },
  'notifications/resources/list_changed': { declared: (capabilities) => capabilities['resources']?.listChanged === true, era: 'both' },
  'notifications/resources/updated': { declared: (capabilities) => capabilities['resources']?.subscribe === true, era: 'both' },
  'notifications/subscriptions/acknowledged': { declared: null, era: 'modern' },
  'notifications/progress': { declared: null, era: 'both' },
};

/** Everything that was heard in this process, over all clients: method and whether its handshake was seen and held it. */
export interface Heard {
  readonly method: string;
  readonly era: 'legacy' | 'modern';
  /** Null: the client never asked what is declared. */
  readonly capabilities: Capabilities | null;
  /** Capabilities of all handshakes of the connection: what is declared may change while a stream is open. */
  readonly licensed: boolean | null;
}
export const heard: Heard[] = [];

/** What is wrong with one notification, or null. */
export function licenceFault(method: string, era: 'legacy' | 'modern', handshakes: readonly Capabilities[]): string | null {
  const rule = Object.hasOwn(licenceRules, method) ? licenceRules[method]! : null;
  const licensed = rule === null || handshakes.length === 0 ? null : rule.declared === null || handshakes.some(rule.declared);
  heard.push({ method, era, capabilities: handshakes.at(-1) ?? null, licensed });
  if (rule === null) return `${method} has no licence`;
  if (rule.era !== 'both' && rule.era !== era) return `${method} does not exist on a ${era} connection`;
  return licensed === false ? `${method} was never declared on this connection` : null;
}
