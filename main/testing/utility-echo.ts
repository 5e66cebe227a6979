import { utilityHost } from '../../app/engine/host-port.ts';

/** A utility process that answers each value with itself: on its own port, and on each that it is handed. */
const host = utilityHost((process as unknown as { parentPort: Parameters<typeof utilityHost>[0] }).parentPort);
host.onMessage((value) => host.postMessage({ host: value }));
host.onUi((ui) => {
  ui.onMessage((value) => ui.postMessage({ ui: value }));
  ui.onClose(() => host.postMessage('a page went'));
});
