import { contextBridge, ipcRenderer } from 'electron';
import { ENGINE_GONE, ENGINE_LINK, type PreloadApi } from '../app/contract/bridge.ts';
import { CHANNELS, ORIGIN } from './origin.ts';

/** All that is needed here of the page's window. */
declare const window: { postMessage(message: unknown, origin: string, transfer?: readonly unknown[]): void };

// No Electron object crosses: functions with plain values, and a MessagePort by a message of the page's own window.
ipcRenderer.on(CHANNELS.engine, (event, said: unknown) => {
  if (said === ENGINE_LINK) window.postMessage(ENGINE_LINK, ORIGIN, [...event.ports]);
  else window.postMessage(ENGINE_GONE, ORIGIN);
});

const api: PreloadApi = {
  postToShell: (value) => ipcRenderer.send(CHANNELS.toShell, value),
  onShellMessage(listener) {
    const hear = (_event: unknown, value: unknown) => listener(value);
    ipcRenderer.on(CHANNELS.fromShell, hear);
    return () => {
      ipcRenderer.off(CHANNELS.fromShell, hear);
    };
  },
  requestEngine: () => ipcRenderer.send(CHANNELS.wantEngine),
};
contextBridge.exposeInMainWorld('belfry', api);
