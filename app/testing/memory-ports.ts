import { contract } from '../contract/contract.ts';
import { connectContract, type ContractClient, type Port } from '../contract/port.ts';
import type { LiveRow, Slices } from '../contract/values.ts';
import { serveUi } from '../engine/contract-handlers.ts';
import type { Engine } from '../engine/engine.ts';

/** Two ends in one process; values are cloned as they are between processes. */
export function memoryPorts(): [Port, Port] {
  const listeners = [new Set<(value: unknown) => void>(), new Set<(value: unknown) => void>()] as const;
  const end = (own: 0 | 1): Port => ({
    postMessage: (value) => {
      const copy = structuredClone(value);
      queueMicrotask(() => listeners[own === 0 ? 1 : 0].forEach((listener) => listener(copy)));
    },
    onMessage: (listener) => {
      listeners[own].add(listener);
      return () => listeners[own].delete(listener);
    },
  });
  return [end(0), end(1)];
}

/** A UI on an engine of this process. What it was told is kept. */
export interface UiClient extends Disposable {
  readonly call: ContractClient<typeof contract>['call'];
  /** By id, as last told. */
  readonly rows: ReadonlyMap<number, LiveRow>;
  readonly changed: Partial<Slices>[];
  /** Begins to look at Live; rows that are there already count as told. */
  look(notMatched?: boolean): Promise<readonly LiveRow[]>;
  close(): void;
}

export function uiOf(engine: Engine): UiClient {
  const [near, far] = memoryPorts();
  const server = serveUi(engine, far);
  const client = connectContract(contract, near);
  const rows = new Map<number, LiveRow>();
  const changed: Partial<Slices>[] = [];
  const hear = (heard: readonly LiveRow[]) => heard.forEach((row) => rows.set(row.id, row));
  client.on('live', (value) => hear(value.rows));
  client.on('changed', (value) => changed.push(value as Partial<Slices>));
  const close = () => {
    client.close();
    server.close();
  };
  return {
    call: client.call, rows, changed, close,
    async look(notMatched = false) {
      const told = await client.call.live.subscribe({ notMatched });
      hear(told.rows);
      return told.rows;
    },
    [Symbol.dispose]: close,
  };
}
