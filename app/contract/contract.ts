import { z } from 'zod';
import {
  activityRow, backtest, clientRow, diagnosticRow, entryCheck, eventRow, liveRow, outcome, params, pausedUntil, plainSettings, senderRow,
  slices, status, waitingRow, watchRow,
} from './values.ts';

const call = <P extends z.ZodType, R extends z.ZodType>(params: P, result: R) => ({ params, result });

/**
 * Every call and notification between the engine and a UI or command line, as one value. Handlers, callers and
 * the checks at the port are derived from it, so the two sides cannot differ.
 */
export const contract = {
  calls: {
    app: {
      snapshot: call(params.none, slices),
    },
    events: {
      list: call(params.none, z.array(eventRow)),
      set: call(params.setEvent, outcome),
      /** Names, schemas and examples: the field list on screen (ui.md, rule 2). */
      catalogue: call(params.none, z.array(z.record(z.string(), z.unknown()))),
    },
    senders: {
      list: call(params.none, z.array(senderRow)),
      /** Reads a paste without changing anything. */
      check: call(params.paste, z.array(entryCheck)),
      add: call(params.addSenders, outcome),
      set: call(params.setSender, outcome),
      remove: call(params.removeSenders, outcome),
      undo: call(params.none, outcome),
      /** Arrivals of the last 30 days that a rule would have let through. Reads the stores, so only when asked. */
      backtest: call(params.backtest, z.array(backtest)),
    },
    clients: {
      list: call(params.none, z.array(clientRow)),
      waiting: call(params.none, z.array(waitingRow)),
      answer: call(params.answer, outcome),
      allow: call(params.allowClient, outcome),
      deny: call(params.client, outcome),
      revoke: call(params.client, outcome),
      /** One event marked as a test; null: can't tell. */
      test: call(params.client, z.array(z.object({ hop: z.string(), ok: z.boolean().nullable(), sentence: z.string() }))),
    },
    watches: {
      list: call(params.none, z.array(watchRow)),
      add: call(params.addWatch, outcome),
      stop: call(params.watch, outcome),
      /** Items of a watch as files too, in a folder that belongs to the owner alone. */
      setInbox: call(params.setInbox, outcome),
    },
    live: {
      subscribe: call(params.live, z.object({ rows: z.array(liveRow) })),
      unsubscribe: call(params.none, z.null()),
    },
    activity: {
      recent: call(params.activity, z.array(activityRow)),
    },
    settings: {
      get: call(params.none, plainSettings),
      set: call(params.setSetting, outcome),
    },
    pause: {
      get: call(params.none, pausedUntil),
      start: call(params.pause, outcome),
      resume: call(params.none, outcome),
    },
    status: {
      get: call(params.none, status),
    },
    diagnostics: {
      run: call(params.none, z.array(diagnosticRow)),
    },
  },
  notifications: {
    changed: slices.partial(),
    live: z.object({ rows: z.array(liveRow) }),
    activity: z.object({ rows: z.array(activityRow) }),
  },
};

type Calls = typeof contract.calls;
type Notifications = typeof contract.notifications;
export type NotificationName = keyof Notifications;
export type NotificationValue<N extends NotificationName> = z.output<Notifications[N]>;

/** What a side that serves implements. Results are checked where they arrive. */
export type Handlers = {
  readonly [G in keyof Calls]: {
    readonly [C in keyof Calls[G]]: Calls[G][C] extends { params: infer P extends z.ZodType; result: infer R extends z.ZodType }
      ? (params: z.output<P>) => Readonly<z.input<R>> | Promise<Readonly<z.input<R>>>
      : never;
  };
};

/** What a side that calls gets. */
export type Caller = {
  readonly [G in keyof Calls]: {
    readonly [C in keyof Calls[G]]: Calls[G][C] extends { params: infer P extends z.ZodType; result: infer R extends z.ZodType }
      ? (params: z.input<P>) => Promise<z.output<R>>
      : never;
  };
};

export type CallName = { [G in keyof Calls & string]: `${G}.${keyof Calls[G] & string}` }[keyof Calls & string];

/** By `group.call`; own keys only, so that a name from outside cannot reach a prototype. */
export const callSchemas: ReadonlyMap<string, { readonly params: z.ZodType; readonly result: z.ZodType }> = new Map(
  Object.entries(contract.calls).flatMap(([group, calls]) =>
    Object.entries(calls as Record<string, { params: z.ZodType; result: z.ZodType }>).map(([name, schema]) => [`${group}.${name}`, schema] as const)),
);
