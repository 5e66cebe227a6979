import type { IpcMain, IpcMainEvent, WebContents } from 'electron';
import { CHANNELS, isOwnAddress } from './origin.ts';

type Frame = Pick<NonNullable<IpcMainEvent['senderFrame']>, 'url' | 'parent'>;
/** What the gate looks at of a message. */
export interface Sender {
  readonly sender: Pick<WebContents, 'id'> & { readonly mainFrame: unknown };
  readonly senderFrame: Frame | null;
}

/**
 * The one way in for messages from pages: a message counts only if it comes from the main frame of a window of ours
 * that shows a page of ours. Everything else is dropped and noted.
 */
export class Gate {
  readonly #owns: (contentsId: number) => boolean;
  readonly #log: (line: string) => void;

  /** @param owns whether these web contents belong to a window of ours */
  constructor(owns: (contentsId: number) => boolean, log: (line: string) => void) {
    this.#owns = owns;
    this.#log = log;
  }

  listen(ipc: Pick<IpcMain, 'on'>, heard: { shell(contents: WebContents, value: unknown): void; wantEngine(contents: WebContents): void }): void {
    ipc.on(CHANNELS.toShell, (event, value: unknown) => {
      if (this.admits(event)) heard.shell(event.sender, value);
    });
    ipc.on(CHANNELS.wantEngine, (event) => {
      if (this.admits(event)) heard.wantEngine(event.sender);
    });
  }

  admits({ sender, senderFrame }: Sender): boolean {
    const fits = senderFrame !== null && this.#owns(sender.id) && senderFrame === sender.mainFrame && senderFrame.parent === null && isOwnAddress(senderFrame.url);
    if (!fits) this.#log('a message from a frame that is not ours was dropped');
    return fits;
  }
}
