import { z } from 'zod';
import { callsOf, type CallerOf, type HandlersOf, type NameOf, type Schema, type ValueOf } from './schema.ts';

/** Anything that carries values both ways: a MessagePort, parentPort, a child process, fetch and server-sent events. */
export interface Port {
  postMessage(value: unknown): void;
  /** Returns the way to stop listening. */
  onMessage(listener: (value: unknown) => void): () => void;
}

export type ContractErrorCode = 'unknown_call' | 'invalid_params' | 'invalid_result' | 'failed' | 'closed';

/** How a call fails as a call. Refusals of the owner's policy are results (`outcome`), not errors. */
export class ContractError extends Error {
  readonly code: ContractErrorCode;
  constructor(code: ContractErrorCode, sentence: string) {
    super(sentence);
    this.name = 'ContractError';
    this.code = code;
  }
}

const request = z.object({ call: z.string().max(64), id: z.int(), params: z.unknown() });
const response = z.discriminatedUnion('ok', [
  z.object({ id: z.int(), ok: z.literal(true), result: z.unknown() }),
  z.object({
    id: z.int(), ok: z.literal(false),
    error: z.object({ code: z.enum(['unknown_call', 'invalid_params', 'invalid_result', 'failed', 'closed']), message: z.string() }),
  }),
]);
const notification = z.object({ notify: z.string().max(64), value: z.unknown() });

export interface ContractServer<S extends Schema> {
  notify<N extends NameOf<S>>(name: N, value: ValueOf<S, N>): void;
  close(): void;
}

/**
 * Answers the calls of a schema. Nothing that arrives can throw out of here: an unknown call and bad params get a sentence, a
 * handler that fails answers with a fixed one. @param fault where such a failure is logged
 */
export function serveContract<S extends Schema>(
  schema: S, port: Port, handlers: HandlersOf<S>, fault: (call: string, error: unknown) => void = () => undefined,
): ContractServer<S> {
  const calls = callsOf(schema);
  let open = true;
  const reply = (id: number, error: ContractError) => {
    if (open) port.postMessage({ id, ok: false, error: { code: error.code, message: error.message } });
  };
  const stop = port.onMessage((value) => {
    const parsed = request.safeParse(value);
    if (!parsed.success) return;
    const { call, id, params } = parsed.data;
    void answer(calls, handlers, call, params).then(
      (result) => {
        if (open) port.postMessage({ id, ok: true, result });
      },
      (error: unknown) => {
        if (error instanceof ContractError) return reply(id, error);
        fault(call, error);
        reply(id, new ContractError('failed', 'Belfry could not do this. The log says more.'));
      },
    );
  });
  return {
    notify(name, value) {
      if (open) port.postMessage({ notify: name, value });
    },
    close() {
      open = false;
      stop();
    },
  };
}

async function answer(known: ReturnType<typeof callsOf>, handlers: unknown, call: string, params: unknown): Promise<unknown> {
  const schema = known.get(call);
  if (!schema) throw new ContractError('unknown_call', `There is no call ${JSON.stringify(call)}.`);
  const parsed = schema.params.safeParse(params);
  if (!parsed.success) throw new ContractError('invalid_params', `${call}: ${paramSentence(parsed.error)}.`);
  const [group, name] = call.split('.') as [string, string];
  const calls = handlers as Record<string, Record<string, (params: unknown) => unknown>>;
  return calls[group]![name]!(parsed.data);
}

function paramSentence(error: z.ZodError): string {
  const issue = error.issues[0];
  const place = issue?.path.map(String).join('.').slice(0, 64) ?? '';
  if (issue?.code === 'unrecognized_keys') return `unknown parameter ${JSON.stringify(String(issue.keys[0]).slice(0, 64))}`;
  return `${place === '' ? 'the parameters' : place} ${issue?.message ?? 'do not fit'}`;
}

export interface ContractClient<S extends Schema> {
  readonly call: CallerOf<S>;
  on<N extends NameOf<S>>(name: N, listener: (value: ValueOf<S, N>) => void): () => void;
  /** Calls under way fail with `closed`. */
  close(): void;
}

/** Calls of a schema over a port. What arrives is checked against it, so that a UI never draws half a value. */
export function connectContract<S extends Schema>(schema: S, port: Port): ContractClient<S> {
  const calls = callsOf(schema);
  const pending = new Map<number, { resolve(value: unknown): void; reject(error: ContractError): void; result: z.ZodType; call: string }>();
  const listeners = new Map<string, Set<(value: never) => void>>();
  let nextId = 1;
  let open = true;

  const stop = port.onMessage((value) => {
    const told = notification.safeParse(value);
    if (told.success) return tell(told.data.notify, told.data.value);
    const parsed = response.safeParse(value);
    if (!parsed.success) return;
    const answered = parsed.data;
    const waiting = pending.get(answered.id);
    if (!waiting) return;
    pending.delete(answered.id);
    if (!answered.ok) return waiting.reject(new ContractError(answered.error.code, answered.error.message));
    const result = waiting.result.safeParse(answered.result);
    if (result.success) waiting.resolve(result.data);
    else waiting.reject(new ContractError('invalid_result', `${waiting.call} was answered with a value that does not fit.`));
  });

  function tell(name: string, value: unknown): void {
    const parsed = Object.hasOwn(schema.notifications, name) ? schema.notifications[name]!.safeParse(value) : null;
    if (!parsed?.success) return;
    for (const listener of listeners.get(name) ?? []) listener(parsed.data as never);
  }

  function send(call: string, params: unknown): Promise<unknown> {
    if (!open) return Promise.reject(new ContractError('closed', 'The connection to Belfry is closed.'));
    const id = nextId++;
    return new Promise((resolve, reject) => {
      pending.set(id, { resolve, reject, result: calls.get(call)!.result, call });
      port.postMessage({ call, id, params });
    });
  }

  const call = Object.fromEntries(Object.entries(schema.calls).map(([group, calls]) => [
    group, Object.fromEntries(Object.keys(calls).map((name) => [name, (params: unknown) => send(`${group}.${name}`, params)])),
  ])) as unknown as CallerOf<S>;

  return {
    call,
    on(name, listener) {
      const set = listeners.get(name) ?? new Set();
      listeners.set(name, set);
      set.add(listener as (value: never) => void);
      return () => set.delete(listener as (value: never) => void);
    },
    close() {
      open = false;
      stop();
      for (const waiting of pending.values()) waiting.reject(new ContractError('closed', 'The connection to Belfry is closed.'));
      pending.clear();
    },
  };
}
