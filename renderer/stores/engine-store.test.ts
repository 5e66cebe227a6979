import { beforeEach, expect, it, vi } from 'vitest';
import { contract, type Handlers } from '../../app/contract/contract.ts';
import { serveContract, type ContractServer, type Port } from '../../app/contract/port.ts';
import type { Slices } from '../../app/contract/values.ts';
import { joinedPorts } from '../fixtures/joined-ports.ts';
import { slices } from '../fixtures/made-up.ts';
import { connectEngine, engine, useEngine, withEngine } from './engine-store.ts';

const within = { timeout: 30_000 };

/** An engine whose snapshot is answered when the test says so. */
function startEngine() {
  const [page, own] = joinedPorts();
  const asked = Promise.withResolvers<Slices>();
  const handlers = { app: { snapshot: () => asked.promise }, pause: { resume: () => ({ ok: true, changed: true, sentence: '' }) } } as unknown as Handlers;
  const server: ContractServer<typeof contract> = serveContract(contract, own, handlers);
  return { port: page, server, answer: (value: Slices) => asked.resolve(value) };
}

let give: (port: Port | null) => void;
let stop = () => {};
beforeEach(() => {
  stop();
  useEngine.setState({ slices: null, away: true });
  stop = connectEngine({ shell: joinedPorts()[0], onEngine: (listener) => {
    give = listener;
    return () => {};
  } });
});

it('draws from the snapshot, and then slice by slice', async () => {
  const { port, server, answer } = startEngine();
  give(port);
  answer(slices());
  await vi.waitFor(() => expect(useEngine.getState()).toMatchObject({ away: false, slices: { pausedUntil: null } }), within);
  const { senders } = useEngine.getState().slices!;
  server.notify('changed', { pausedUntil: 'resumed' });
  await vi.waitFor(() => expect(useEngine.getState().slices!.pausedUntil).toBe('resumed'), within);
  expect(useEngine.getState().slices!.senders).toBe(senders);
});

it('takes what changed while the snapshot was on its way', async () => {
  const { port, server, answer } = startEngine();
  give(port);
  server.notify('changed', { pausedUntil: 'resumed' });
  await new Promise((resolve) => { queueMicrotask(() => resolve(null)); });
  answer(slices({ pausedUntil: null }));
  await vi.waitFor(() => expect(useEngine.getState().slices?.pausedUntil).toBe('resumed'), within);
});

it('keeps the last values while the engine is away, and takes those of the next one', async () => {
  const first = startEngine();
  give(first.port);
  first.answer(slices({ pausedUntil: 'resumed' }));
  await vi.waitFor(() => expect(useEngine.getState().away).toBe(false), within);
  give(null);
  expect(useEngine.getState()).toMatchObject({ away: true, slices: { pausedUntil: 'resumed' } });
  await expect(engine.pause.resume({})).rejects.toThrow('Belfry is starting. Try again in a moment.');
  const next = startEngine();
  give(next.port);
  next.answer(slices());
  await vi.waitFor(() => expect(useEngine.getState()).toMatchObject({ away: false, slices: { pausedUntil: null } }), within);
  await expect(engine.pause.resume({})).resolves.toMatchObject({ ok: true });
});

it('never draws a value that does not fit', async () => {
  const { port, answer } = startEngine();
  give(port);
  answer({ ...slices(), senders: [{ kind: 'unheard-of' }] } as unknown as Slices);
  const next = startEngine();
  give(next.port);
  next.answer(slices());
  await vi.waitFor(() => expect(useEngine.getState().away).toBe(false), within);
  expect(useEngine.getState().slices!.senders.map(({ kind }) => kind)).not.toContain('unheard-of');
});

it('begins something with each engine and ends it with each', async () => {
  const log: string[] = [];
  let number = 0;
  const end = withEngine(() => {
    number += 1;
    const own = number;
    log.push(`begin ${own}`);
    return () => log.push(`end ${own}`);
  });
  give(startEngine().port);
  give(startEngine().port);
  give(null);
  give(startEngine().port);
  end();
  expect(log).toEqual(['begin 1', 'end 1', 'begin 2', 'end 2', 'begin 3', 'end 3']);
});
