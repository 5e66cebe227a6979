import type { Bridge, BridgeFrame } from '../../app/contract/bridge.ts';
import type { Port } from '../../app/contract/port.ts';

const KEY = 'belfry.key';

/**
 * Over the page server: server-sent events one way, posts the other, as `app/contract/bridge.ts` says. When the stream
 * breaks, EventSource connects again by itself; its new `hello` is a new session, and so a new engine port.
 */
export function httpBridge(path = 'bridge'): Bridge {
  const source = new EventSource(`${path}?key=${encodeURIComponent(bridgeKey())}`);
  const shellListeners = new Set<(value: unknown) => void>();
  const engineListeners = new Set<(port: Port | null) => void>();
  /** What the page asked before the first `hello`. */
  let early: BridgeFrame[] = [];
  let session: string | null = null;
  let engine: { port: Port; tell(value: unknown): void } | null = null;
  /** One post at a time keeps the order in which the page asked. */
  let posting: Promise<void> = Promise.resolve();

  function post(frame: BridgeFrame): void {
    if (session === null) {
      early.push(frame);
      return;
    }
    const address = `${path}?session=${encodeURIComponent(session)}`;
    posting = posting.then(async () => {
      // A session that is gone (410) needs no more than this: the stream ends too, and a new one says hello.
      await fetch(address, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(frame) }).catch(() => null);
    });
  }

  function setEngine(next: typeof engine): void {
    engine = next;
    for (const listener of engineListeners) listener(next?.port ?? null);
  }

  function newEngine(): NonNullable<typeof engine> {
    const listeners = new Set<(value: unknown) => void>();
    return {
      port: {
        postMessage: (value) => post({ port: 'engine', value }),
        onMessage(listener) {
          listeners.add(listener);
          return () => listeners.delete(listener);
        },
      },
      tell(value) {
        for (const listener of listeners) listener(value);
      },
    };
  }

  const on = (name: string, listener: (value: Record<string, unknown>) => void) => {
    source.addEventListener(name, (event: MessageEvent<string>) => {
      const value = objectOf(event.data);
      if (value) listener(value);
    });
  };
  on('hello', (hello) => {
    if (typeof hello.session !== 'string') return;
    session = hello.session;
    const waiting = early;
    early = [];
    for (const frame of waiting) post(frame);
  });
  on('engine', ({ up }) => setEngine(up === true ? newEngine() : null));
  on('value', ({ port, value }) => {
    if (port === 'engine') engine?.tell(value);
    else for (const listener of shellListeners) listener(value);
  });
  source.addEventListener('error', () => {
    session = null;
    if (engine !== null) setEngine(null);
  });

  return {
    shell: {
      postMessage: (value) => post({ port: 'shell', value }),
      onMessage(listener) {
        shellListeners.add(listener);
        return () => shellListeners.delete(listener);
      },
    },
    onEngine(listener) {
      engineListeners.add(listener);
      listener(engine?.port ?? null);
      return () => engineListeners.delete(listener);
    },
  };
}

/** The server leaves it in the fragment, once. Storage is of this origin, port and all, which a cookie is not. */
function bridgeKey(): string {
  const given = /^#key=([\w-]+)$/.exec(location.hash)?.[1];
  if (given !== undefined) history.replaceState(history.state, '', `${location.pathname}${location.search}`);
  try {
    if (given !== undefined) localStorage.setItem(KEY, given);
    return given ?? localStorage.getItem(KEY) ?? '';
  } catch {
    // A browser that keeps nothing for pages: it lasts until the page is loaded again.
    return given ?? '';
  }
}

function objectOf(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : null;
  } catch {
    return null;
  }
}
