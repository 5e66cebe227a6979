import type { IncomingMessage, RequestListener, ServerOptions, ServerResponse } from 'node:http';

/** What a request may take of time and of headers, on every server of ours. */
export const LIMITS: ServerOptions = { headersTimeout: 5000, requestTimeout: 15_000, connectionsCheckingInterval: 1000, maxHeaderSize: 16_384, keepAliveTimeout: 30_000 };

const SENTENCE = 'Belfry met an unexpected fault';

export interface Guard {
  /** For the log. */
  fault(error: unknown): void;
  /** Answers 500 in the form of this server. */
  say(response: ServerResponse, sentence: string): void;
}

/**
 * Every program and every web page of this machine can send requests: whatever one of them makes fail is the end of that
 * request, and never of the process. What `answer` does after its promise is settled is not held.
 */
export function guarded(answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>, guard: Guard): RequestListener {
  return (request, response) => {
    // A peer that went, or a write behind its going.
    request.on('error', () => undefined);
    response.on('error', () => undefined);
    const answered = async () => answer(request, response);
    answered().catch((error: unknown) => {
      guard.fault(error);
      if (response.headersSent) response.destroy();
      else guard.say(response, SENTENCE);
    });
  };
}
