import type { Port } from '../contract/port.ts';

/** A page's own port to the engine. */
export interface UiPort extends Port {
  /** Told once when the page is gone. */
  onClose(listener: () => void): void;
}

/** The process that started this one: a port of its own, and further ports that it hands over, one for each page. */
export interface Host extends Port {
  onUi(listener: (port: UiPort) => void): void;
}

interface TransferredPort {
  on(event: 'message', listener: (event: { data: unknown }) => void): void;
  on(event: 'close', listener: () => void): void;
  start(): void;
  postMessage(value: unknown): void;
}
interface ParentPort {
  on(event: 'message', listener: (event: { data: unknown; ports: readonly TransferredPort[] }) => void): void;
  postMessage(value: unknown): void;
}
interface NodeChild {
  readonly connected?: boolean;
  readonly send?: ((value: unknown, handle: undefined, options: undefined, done: () => void) => unknown) | undefined;
  on(event: 'message', listener: (value: unknown) => void): unknown;
}

/** A page's frames where no port can be transferred: `{ui: n}` opens, `{ui: n, value}` carries, `{ui: n, closed: true}` ends. */
interface UiFrame {
  readonly ui: number;
  readonly value?: unknown;
  readonly closed?: true;
}

class Listeners<T> {
  readonly #all = new Set<(value: T) => void>();
  readonly add = (listener: (value: T) => void): (() => void) => {
    this.#all.add(listener);
    return () => this.#all.delete(listener);
  };
  readonly tell = (value: T): void => {
    for (const listener of this.#all) listener(value);
  };
}

/** Under Electron's utility process: `{ui: true}` comes with a port of its own. */
export function utilityHost(parent: ParentPort): Host {
  const values = new Listeners<unknown>();
  const uis = new Listeners<UiPort>();
  parent.on('message', ({ data, ports: [port] }) => {
    if (isObject(data) && data['ui'] === true && port) uis.tell(transferredUi(port));
    else values.tell(data);
  });
  return { onMessage: values.add, onUi: uis.add, postMessage: (value) => parent.postMessage(value) };
}

function transferredUi(port: TransferredPort): UiPort {
  const values = new Listeners<unknown>();
  const closed = new Listeners<void>();
  port.on('message', ({ data }) => values.tell(data));
  port.on('close', () => closed.tell());
  port.start();
  return { onMessage: values.add, onClose: closed.add, postMessage: (value) => port.postMessage(value) };
}

/** Under a forked Node: pages share the one channel by numbered frames. */
export function nodeHost(child: NodeChild): Host {
  const values = new Listeners<unknown>();
  const uis = new Listeners<UiPort>();
  const open = new Map<number, { value(value: unknown): void; close(): void }>();
  // A host that left cannot be told: with a callback the refusal is a value, without one it would end the process.
  const postMessage = (value: unknown) => {
    if (child.connected) child.send!(value, undefined, undefined, () => {});
  };
  child.on('message', (value) => {
    if (!isUiFrame(value)) return values.tell(value);
    const { ui } = value;
    if (value.closed) {
      open.get(ui)?.close();
      open.delete(ui);
    } else if ('value' in value) open.get(ui)?.value(value.value);
    else if (!open.has(ui)) {
      const [heard, closed] = [new Listeners<unknown>(), new Listeners<void>()];
      open.set(ui, { value: heard.tell, close: () => closed.tell() });
      uis.tell({ onMessage: heard.add, onClose: closed.add, postMessage: (answer) => postMessage({ ui, value: answer }) });
    }
  });
  return { onMessage: values.add, onUi: uis.add, postMessage };
}

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === 'object' && value !== null;
const isUiFrame = (value: unknown): value is UiFrame => isObject(value) && typeof value['ui'] === 'number';
