export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export interface Notification {
  readonly method: string;
  readonly params: JsonObject;
}

export interface RpcError {
  readonly code: number;
  readonly message: string;
  readonly data: JsonObject | null;
}

export type Answer = { readonly result: JsonObject } | { readonly error: RpcError };

/** A request that was sent. */
export interface Exchange {
  readonly id: number;
  /** Rejects with a ProbeFailure where no answer can come any more. */
  readonly answer: Promise<Answer>;
  /** Withdraws it: nothing more is taken for it. */
  cancel(): void;
}

/** What the server sends for a request, in order. @param id of the request, which may be answered before it is at hand */
export type OnNotification = (notification: Notification, id: number) => void;

/** What every message of a revision carries, beside its method and params. */
export interface Revision {
  readonly version: string;
  readonly isModern: boolean;
}

/** A way to one server: a socket, a program's stdio, or HTTP. It knows messages, and nothing of what they mean. */
export interface Link {
  /** Address for people; null where there is none. Without credentials and query. */
  readonly url: string | null;
  /** Of the messages from now on. */
  revision: Revision;
  /** What belongs to no request of ours: pushes of the older revisions. */
  onnotification: ((notification: Notification) => void) | null;
  request(method: string, params: JsonObject, onNotification?: OnNotification): Exchange;
  notify(method: string, params: JsonObject): Promise<void>;
  /** Opens what the transport needs for pushes of the older revisions. False: the server has none. */
  listen(): Promise<boolean>;
  /** Rejects once nothing can come any more; never resolves. */
  readonly gone: Promise<never>;
  close(): Promise<void>;
}

export const SUBSCRIPTION_ID = 'io.modelcontextprotocol/subscriptionId';

export const isObject = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null && !Array.isArray(value);

/** The id of the subscription that a notification is for. */
export function subscriptionOf({ params }: Notification): Json | undefined {
  const meta = params['_meta'];
  return isObject(meta) ? meta[SUBSCRIPTION_ID] : undefined;
}

/** Servers of the older revisions may ask, too. A probe offers nothing that they could ask for, but is there. */
export const replyTo = (id: Json, method: string): JsonObject =>
  (method === 'ping' ? { jsonrpc: '2.0', id, result: {} } : { jsonrpc: '2.0', id, error: { code: -32601, message: 'Method not found' } });

/** One message as a server sent it: an answer, a notification, or what a client need not take. */
export function readMessage(value: unknown): { readonly id: Json; readonly answer: Answer } | { readonly notification: Notification } | { readonly request: Json; readonly method: string } | null {
  if (!isObject(value) || value['jsonrpc'] !== '2.0') return null;
  const { id, method, params, result, error } = value;
  if (typeof method === 'string') {
    if (id !== undefined) return { request: id, method };
    return params === undefined || isObject(params) ? { notification: { method, params: params ?? {} } } : null;
  }
  if (id === undefined) return null;
  if (isObject(result)) return { id, answer: { result } };
  if (!isObject(error) || typeof error['code'] !== 'number' || typeof error['message'] !== 'string') return null;
  const data = error['data'];
  return { id, answer: { error: { code: error['code'], message: error['message'], data: isObject(data) ? data : null } } };
}
