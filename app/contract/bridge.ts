import type { Port } from './port.ts';

/**
 * The one way from a page to the rest: made by the app's preload script, by the page server's double over fetch
 * and server-sent events, and by the fixtures.
 */
export interface Bridge {
  /** Carries the `shell` schema. */
  readonly shell: Port;
  /**
   * Tells the port to the engine each time there is a new one, and null while there is none. A new port means a new
   * engine: whoever draws its state takes a snapshot again. Returns the way to stop.
   */
  onEngine(listener: (port: Port | null) => void): () => void;
}

/** What the app's preload script puts on `window.belfry`: functions only, since no Electron object crosses. */
export interface PreloadApi {
  postToShell(value: unknown): void;
  onShellMessage(listener: (value: unknown) => void): () => void;
  /**
   * Asks for a link to the engine. Each answer arrives as a window message of the page's own origin whose data is
   * `ENGINE_LINK` with one MessagePort, or `ENGINE_GONE` without one.
   */
  requestEngine(): void;
}
export const ENGINE_LINK = 'belfry:engine';
export const ENGINE_GONE = 'belfry:engine-gone';

/**
 * The double over HTTP, both ways:
 * `GET /bridge?key=...`, the key of the fragment that the page was opened with, is a stream of server-sent events: first `hello` with `{"session": id}`, then `value` with
 * `{"port": "shell"|"engine", "value": any}`, and `engine` with `{"up": boolean}`.
 * `POST /bridge?session=id` takes `{"port", "value"}` and answers 204, or 410 where that session is gone.
 */
export interface BridgeFrame {
  readonly port: 'shell' | 'engine';
  readonly value: unknown;
}
