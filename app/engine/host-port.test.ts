import { EventEmitter } from 'node:events';
import { describe, expect, test } from 'vitest';
import { nodeHost, utilityHost, type UiPort } from './host-port.ts';

class Child extends EventEmitter {
  connected = true;
  readonly sent: unknown[] = [];
  send(value: unknown): boolean {
    this.sent.push(value);
    return true;
  }
}

const collect = (port: UiPort) => {
  const seen: unknown[] = [];
  port.onMessage((value) => seen.push(value));
  port.onClose(() => seen.push('closed'));
  return seen;
};

describe('under a forked Node', () => {
  test('frames of each page reach its own port, and only that; the rest is the host\'s', () => {
    const child = new Child();
    const host = nodeHost(child);
    const uis: UiPort[] = [];
    const own: unknown[] = [];
    host.onUi((ui) => uis.push(ui));
    host.onMessage((value) => own.push(value));
    for (const frame of [{ ui: 1 }, { ui: 2 }, { start: {} }]) child.emit('message', frame);
    expect(uis.length).toBe(2);
    const [first, second] = uis.map(collect);
    for (const frame of [{ ui: 1, value: 'a' }, { ui: 2, value: 'b' }, { ui: 1, closed: true }, { ui: 1, value: 'late' }, { ui: 3, value: 'never opened' }]) child.emit('message', frame);
    expect(first).toEqual(['a', 'closed']);
    expect(second).toEqual(['b']);
    expect(own).toEqual([{ start: {} }]);
    uis[1]!.postMessage('answer');
    host.postMessage('to the host');
    expect(child.sent).toEqual([{ ui: 2, value: 'answer' }, 'to the host']);
  });

  test('a host that left is told nothing, and nothing is thrown', () => {
    const child = new Child();
    child.connected = false;
    nodeHost(child).postMessage('anybody?');
    expect(child.sent).toEqual([]);
  });
});

describe('under a utility process', () => {
  class TransferredPort extends EventEmitter {
    readonly sent: unknown[] = [];
    started = false;
    start(): void { this.started = true; }
    postMessage(value: unknown): void { this.sent.push(value); }
  }

  test('a port that comes with {ui: true} is a page\'s; its end is told', () => {
    const parent = Object.assign(new EventEmitter(), { sent: [] as unknown[], postMessage(value: unknown) { this.sent.push(value); } });
    const host = utilityHost(parent);
    const uis: UiPort[] = [];
    const own: unknown[] = [];
    host.onUi((ui) => uis.push(ui));
    host.onMessage((value) => own.push(value));
    const port = new TransferredPort();
    parent.emit('message', { data: { ui: true }, ports: [port] });
    parent.emit('message', { data: { start: {} }, ports: [] });
    parent.emit('message', { data: { ui: true }, ports: [] });
    expect(own).toEqual([{ start: {} }, { ui: true }]);
    const seen = collect(uis[0]!);
    expect(port.started).toBe(true);
    port.emit('message', { data: 'hello' });
    uis[0]!.postMessage('answer');
    port.emit('close');
    expect(seen).toEqual(['hello', 'closed']);
    expect(port.sent).toEqual(['answer']);
  });
});
