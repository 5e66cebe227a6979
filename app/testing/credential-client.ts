import { HttpClient } from './http-client.ts';
import { clientOf } from './test-credentials.ts';
import type { World } from './world.ts';

/** A client that shows a credential, and so comes over HTTP. */
export interface CredentialClient {
  /** By which policy knows it. */
  readonly id: string;
  readonly http: HttpClient;
  request(method: string, params?: object): Promise<Record<string, any>>;
}

export function credentialClient(world: World, token = 'test-client'): CredentialClient {
  const http = world.httpClient(token);
  return { id: clientOf(token), http, request: (method, params = {}) => http.request(method, params) };
}
