import type { IncomingMessage, ServerResponse } from 'node:http';

/** Why a request to `/mcp` has nobody to speak for: it brought no bearer token, or one that nobody holds. */
export type TokenProblem = 'missing' | 'invalid';

/** What answers on the listener beside `/mcp`: metadata, registration and authorization. */
export interface HttpRoutes {
  /**
   * Host and Origin were checked before: whoever asks is on this machine, and a page that asks is of this machine too.
   * Nothing of the body was read.
   * @param url the address as it was asked for, on the listener's own origin
   * @returns false for a path that is not theirs: it is then answered 404
   */
  handle(request: IncomingMessage, response: ServerResponse, url: URL): boolean;
  /** Value of `WWW-Authenticate` for a 401 of `/mcp`. @param origin of the listener as the client knows it, without a slash at the end */
  challenge(problem: TokenProblem, origin: string): string;
}
