import { MessageChannelMain, type WebContents } from 'electron';
import { ENGINE_GONE, ENGINE_LINK } from '../app/contract/bridge.ts';
import type { EngineHost } from './engine-host.ts';
import { CHANNELS } from './origin.ts';

type Page = Pick<WebContents, 'id' | 'postMessage'>;

/** Gives each page that asked a port of its own to the engine, and another one to each engine that follows. */
export class EngineLinks {
  readonly #host: Pick<EngineHost, 'link' | 'onEngine'>;
  readonly #pages = new Map<number, Page>();

  constructor(host: Pick<EngineHost, 'link' | 'onEngine'>) {
    this.#host = host;
    host.onEngine((engine) => {
      for (const page of this.#pages.values()) {
        if (engine === null) page.postMessage(CHANNELS.engine, ENGINE_GONE);
        else this.#link(page);
      }
    });
  }

  /** A page that asks again was loaded again: its old port is gone. */
  want(page: Page): void {
    this.#pages.set(page.id, page);
    this.#link(page);
  }

  forget(contentsId: number): void {
    this.#pages.delete(contentsId);
  }

  #link(page: Page): void {
    const { port1, port2 } = new MessageChannelMain();
    if (this.#host.link(port1)) page.postMessage(CHANNELS.engine, ENGINE_LINK, [port2]);
    else page.postMessage(CHANNELS.engine, ENGINE_GONE);
  }
}
