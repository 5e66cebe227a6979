/**
 * The errors that the events extension answers with (events-extension 8). The numbers of SEP-3415 are
 * provisional: this is the one place that knows them.
 */
export const ErrorCode = {
  methodNotFound: -32601,
  invalidParams: -32602,
  internal: -32603,
  notFound: -32023,
  forbidden: -32024,
  resourceExhausted: -32025,
  unsupported: -32026,
  callbackEndpoint: -32027,
} as const;

/** An answer that is a known error. The message is fixed or built from field names: never from a path or a store. */
export class EventsError extends Error {
  readonly code: number;
  readonly data: Readonly<Record<string, unknown>> | undefined;
  constructor(code: number, message: string, data?: Readonly<Record<string, unknown>>) {
    super(message);
    this.name = 'EventsError';
    this.code = code;
    this.data = data;
  }
  toJSON(): { code: number; message: string; data?: Readonly<Record<string, unknown>> } {
    return { code: this.code, message: this.message, ...(this.data && { data: this.data }) };
  }
}

export const methodNotFound = () => new EventsError(ErrorCode.methodNotFound, 'Method not found');
export const invalidParams = (sentence: string) => new EventsError(ErrorCode.invalidParams, sentence);
export const eventNotFound = () => new EventsError(ErrorCode.notFound, 'NotFound', { kind: 'event' });
export const forbidden = (reason: string) => new EventsError(ErrorCode.forbidden, 'Forbidden', { reason });
export const limitReached = (limit: string, max: number, more: Record<string, unknown> = {}) =>
  new EventsError(ErrorCode.resourceExhausted, 'ResourceExhausted', { limit, max, ...more });
/** The receiver of a webhook did not agree, or could not be asked. `reason` is a category, never what it said. */
export const callbackFailed = (reason: string) => new EventsError(ErrorCode.callbackEndpoint, 'CallbackEndpointError', { reason });
export const subscriptionNotFound = () => new EventsError(ErrorCode.notFound, 'NotFound', { kind: 'subscription' });
export const unsupportedMode = (value: string) =>
  new EventsError(ErrorCode.unsupported, 'Unsupported', { feature: 'deliveryMode', value });
/** Ruling 19: `reason` is `not_permitted`, `not_there`, `broken` or `busy`. */
export const storeUnreadable = (reason: string) =>
  new EventsError(ErrorCode.internal, 'The store cannot be read at the moment', { reason, retryAfterMs: 1000 });
