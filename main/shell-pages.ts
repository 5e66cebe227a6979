import type { WebContents } from 'electron';
import { serveContract, type ContractServer } from '../app/contract/port.ts';
import { shell, type ShellHandlers } from '../app/contract/shell.ts';
import type { NameOf, ValueOf } from '../app/contract/schema.ts';
import { faultLine } from './log-file.ts';
import { CHANNELS } from './origin.ts';

interface Page {
  readonly hear: (value: unknown) => void;
  readonly server: ContractServer<typeof shell>;
}

/** Serves the `shell` schema to each window's page, over what the gate lets through. */
export class ShellPages {
  readonly #handlers: ShellHandlers;
  readonly #log: (line: string) => void;
  readonly #pages = new Map<number, Page>();

  constructor(handlers: ShellHandlers, log: (line: string) => void) {
    this.#handlers = handlers;
    this.#log = log;
  }

  add(contents: Pick<WebContents, 'id' | 'send' | 'isDestroyed'>): void {
    const listeners = new Set<(value: unknown) => void>();
    const server = serveContract(shell, {
      postMessage: (value) => {
        if (!contents.isDestroyed()) contents.send(CHANNELS.fromShell, value);
      },
      onMessage(listener) {
        listeners.add(listener);
        return () => listeners.delete(listener);
      },
    }, this.#handlers, (call, error) => this.#log(`${call}: ${faultLine(error)}`));
    const hear = (value: unknown) => {
      for (const listener of listeners) listener(value);
    };
    this.#pages.set(contents.id, { server, hear });
  }

  remove(contentsId: number): void {
    this.#pages.get(contentsId)?.server.close();
    this.#pages.delete(contentsId);
  }

  hear(contentsId: number, value: unknown): void {
    this.#pages.get(contentsId)?.hear(value);
  }

  /** @param contentsId one page, or all of them if left out */
  notify<N extends NameOf<typeof shell>>(name: N, value: ValueOf<typeof shell, N>, contentsId?: number): void {
    for (const [id, { server }] of this.#pages) if (contentsId === undefined || contentsId === id) server.notify(name, value);
  }
}
