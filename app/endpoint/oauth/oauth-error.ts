import type { ServerResponse } from 'node:http';
import { answerJson, type Headers } from '../http/answer.ts';

/** An error of RFC 6749, 7591 or 8707, with a sentence that names the field and the rule. */
export interface OAuthError {
  readonly status: number;
  readonly error:
    | 'invalid_request' | 'invalid_client' | 'invalid_grant' | 'unsupported_grant_type' | 'unsupported_token_type' | 'invalid_target'
    | 'invalid_redirect_uri' | 'invalid_client_metadata' | 'temporarily_unavailable';
  readonly description: string;
  readonly headers?: Headers;
}

export function answerError(response: ServerResponse, { status, error, description, headers }: OAuthError, cors: Headers = {}): void {
  answerJson(response, status, { error, error_description: description }, { ...cors, ...headers });
}

export const tooOften = (seconds: number): OAuthError => ({
  status: 429, error: 'temporarily_unavailable', description: 'Too many requests in this hour', headers: { 'retry-after': String(seconds) },
});

export const isError = (value: object): value is OAuthError => 'error' in value && 'status' in value;
