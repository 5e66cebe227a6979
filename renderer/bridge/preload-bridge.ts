import { ENGINE_GONE, ENGINE_LINK, type Bridge, type PreloadApi } from '../../app/contract/bridge.ts';
import type { Port } from '../../app/contract/port.ts';

declare global {
  interface Window {
    /** Only in the app's own windows. */
    readonly belfry?: PreloadApi;
  }
}

/** Over the preload script: the shell by its functions, the engine by a MessagePort that main hands over. */
export function preloadBridge(api: PreloadApi): Bridge {
  return {
    shell: { postMessage: (value) => api.postToShell(value), onMessage: (listener) => api.onShellMessage(listener) },
    onEngine(listener) {
      let stopPort = () => {};
      const onMessage = (event: MessageEvent<unknown>) => {
        if (event.source !== window || event.origin !== window.location.origin) return;
        if (event.data === ENGINE_GONE) {
          stopPort();
          listener(null);
        } else if (event.data === ENGINE_LINK && event.ports[0]) {
          stopPort();
          const linked = event.ports[0];
          stopPort = () => linked.close();
          listener(portOf(linked));
        }
      };
      window.addEventListener('message', onMessage);
      api.requestEngine();
      return () => {
        window.removeEventListener('message', onMessage);
        stopPort();
      };
    },
  };
}

/** A MessagePort as the contract's port. What arrives before somebody listens is kept by the port itself. */
export function portOf(port: MessagePort): Port {
  return {
    postMessage: (value) => port.postMessage(value),
    onMessage(listener) {
      const onMessage = (event: MessageEvent<unknown>) => listener(event.data);
      port.addEventListener('message', onMessage);
      port.start();
      return () => port.removeEventListener('message', onMessage);
    },
  };
}
