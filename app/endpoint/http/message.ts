import type { IncomingHttpHeaders } from 'node:http';
import { classifyInboundRequest } from '@modelcontextprotocol/server';
import { cleanText } from '../../events/text.ts';
import { MAX_SENTENCE } from '../../mcp/connection.ts';
import { admits } from './accept.ts';
import { HEADER_MISMATCH, mirrorFault } from './mirror.ts';

const VERSION = '2026-07-28';
const UNSUPPORTED_VERSION = -32022;
const STREAM = 'text/event-stream';
/** Answered by a stream, whatever comes. */
const STREAMS: ReadonlySet<string> = new Set(['events/stream', 'subscriptions/listen']);

/** A JSON-RPC error with the status that it is answered with. */
export interface MessageFault {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: object;
}

export type Message =
  | { readonly ok: false; readonly id: string | number | null; readonly fault: MessageFault }
  | {
    readonly ok: true;
    /** Null for a notification. */
    readonly id: string | number | null;
    readonly method: string;
    readonly body: { readonly method: string; readonly params?: Readonly<Record<string, unknown>> };
    /** The request describes itself, as `2026-07-28` has it. */
    readonly modern: boolean;
  };

/** What of a message the endpoint itself answers for: that it is one, of a version that is served, and that its headers repeat it. */
export function readMessage(text: string, headers: IncomingHttpHeaders): Message {
  let body: unknown;
  try {
    body = JSON.parse(text);
  } catch {
    return refused(null, { status: 400, code: -32700, message: 'The body is not JSON' });
  }
  if (Array.isArray(body)) return refused(null, invalid('A message must be one object: batches are not part of MCP'));
  const id = idOf(body);
  const outcome = classifyInboundRequest({ httpMethod: 'POST', body, ...routing(headers) });
  if (outcome.kind === 'reject') return refused(id, { status: outcome.httpStatus, code: outcome.code, message: cleanText(outcome.message, MAX_SENTENCE), ...(outcome.data !== undefined && { data: outcome.data as object }) });
  if (outcome.kind === 'legacy') {
    return outcome.reason === 'response' ? refused(id, invalid('Belfry asks clients nothing, so there is nothing to answer')) : accepted(body as Taken, id, headers, false);
  }
  if (outcome.messageKind === 'notification') return accepted(outcome.message as Taken, null, headers, true);
  const { message, classification: { revision } } = outcome;
  if (revision !== VERSION) return refused(id, { status: 400, code: UNSUPPORTED_VERSION, message: 'The protocol version is not served', data: { supported: [VERSION], requested: revision ?? null } });
  const differs = mirrorFault(headers, message, VERSION);
  if (differs !== null) return refused(id, { status: 400, code: HEADER_MISMATCH, message: differs });
  if (STREAMS.has(message.method) && !admits(headers.accept, STREAM)) return refused(id, { ...invalid(`Accept: must admit ${STREAM}`), status: 406 });
  return accepted(message as Taken, id, headers, true);
}

type Taken = { readonly method: string; readonly params?: Readonly<Record<string, unknown>> };

/** Progress needs a stream: a client that takes none is told only the end. */
function accepted(body: Taken, id: string | number | null, headers: IncomingHttpHeaders, modern: boolean): Message {
  const meta = body.params?.['_meta'] as Readonly<Record<string, unknown>> | undefined;
  if (!modern || meta?.['progressToken'] === undefined || admits(headers.accept, STREAM)) return { ok: true, id, method: body.method, body, modern };
  const { progressToken: _, ...rest } = meta;
  return { ok: true, id, method: body.method, body: { ...body, params: { ...body.params, _meta: rest } }, modern };
}

const invalid = (message: string): MessageFault => ({ status: 400, code: -32600, message });
const refused = (id: string | number | null, fault: MessageFault): Message => ({ ok: false, id, fault });

function idOf(body: unknown): string | number | null {
  const id = (body as { id?: unknown } | null)?.id;
  return typeof id === 'string' || (typeof id === 'number' && Number.isSafeInteger(id)) ? id : null;
}

function routing(headers: IncomingHttpHeaders) {
  const [version, method, name] = [headers['mcp-protocol-version'], headers['mcp-method'], headers['mcp-name']] as (string | undefined)[];
  return { ...(version !== undefined && { protocolVersionHeader: version }), ...(method !== undefined && { mcpMethodHeader: method }), ...(name !== undefined && { mcpNameHeader: name }) };
}
