import { ErrorCode } from '../events/errors.ts';
import { ProbeFailure, type ErrorName } from './failure.ts';
import type { RpcError } from './link.ts';

/** Where an error answer came from, for names that only make sense there. */
export interface Asked {
  /** Belfry's own socket: its states have names of their own. */
  readonly isBelfry: boolean;
  readonly method: string;
  readonly event?: string;
}

const OF_BELFRY = new Set(['mail.received', 'messages.received']);

/** The name of what an error answer says (events-extension section 8, rulings 19 and 24). */
export function refusalOf(error: RpcError, asked: Asked): ProbeFailure {
  const { code, message, data } = error;
  const reason = typeof data?.['reason'] === 'string' ? data['reason'] : null;
  const said = `The server answered ${asked.method} with ${code}: ${message}${reason === null || reason === message ? '' : ` (${reason})`}`;
  return new ProbeFailure(nameOf(code, reason, asked), said);
}

function nameOf(code: number, reason: string | null, { isBelfry, method, event }: Asked): ErrorName {
  switch (code) {
    case ErrorCode.notFound:
      return isBelfry && event !== undefined && OF_BELFRY.has(event) ? 'EVENT_DISABLED' : 'EVENT_NOT_FOUND';
    case ErrorCode.forbidden:
      return reason === 'approval' ? 'CLIENT_NOT_APPROVED' : 'FORBIDDEN';
    case ErrorCode.resourceExhausted:
      return 'LIMIT_REACHED';
    case ErrorCode.unsupported:
      return 'MODE_NOT_OFFERED';
    case ErrorCode.methodNotFound:
      return isBelfry && method.startsWith('events/') ? 'EVENT_DISABLED' : 'EXTENSION_NOT_DECLARED';
    case ErrorCode.invalidParams:
      return 'INVALID_ARGS';
    case -32022:
      return 'PROTOCOL_UNSUPPORTED';
    case -32020:
      return 'PROTOCOL_VIOLATION';
    case ErrorCode.internal:
      return reason === null ? 'SERVER_ERROR' : REASONS[reason] ?? 'SERVER_ERROR';
    default:
      return 'SERVER_ERROR';
  }
}

const REASONS: Readonly<Record<string, ErrorName>> = {
  not_permitted: 'FDA_MISSING', not_there: 'SOURCE_UNAVAILABLE', broken: 'SOURCE_UNAVAILABLE', busy: 'SOURCE_UNAVAILABLE',
  not_running: 'APP_NOT_RUNNING', engine_restarted: 'APP_NOT_RUNNING',
};
