import type { z } from 'zod';

/** One call of a schema: what goes in, what comes back. */
export const call = <P extends z.ZodType, R extends z.ZodType>(params: P, result: R) => ({ params, result });

interface AnyCall {
  readonly params: z.ZodType;
  readonly result: z.ZodType;
}

/** The calls (in groups) and notifications between two sides, as one value. Everything else is derived from it. */
export interface Schema {
  readonly calls: { readonly [group: string]: { readonly [name: string]: AnyCall } };
  readonly notifications: { readonly [name: string]: z.ZodType };
}

export type NameOf<S extends Schema> = keyof S['notifications'] & string;
export type ValueOf<S extends Schema, N extends NameOf<S>> = z.output<S['notifications'][N]>;

/** What a side that serves implements. Results are checked where they arrive. */
export type HandlersOf<S extends Schema> = {
  readonly [G in keyof S['calls']]: {
    readonly [C in keyof S['calls'][G]]: S['calls'][G][C] extends { params: infer P extends z.ZodType; result: infer R extends z.ZodType }
      ? (params: z.output<P>) => Readonly<z.input<R>> | Promise<Readonly<z.input<R>>>
      : never;
  };
};

/** What a side that calls gets. */
export type CallerOf<S extends Schema> = {
  readonly [G in keyof S['calls']]: {
    readonly [C in keyof S['calls'][G]]: S['calls'][G][C] extends { params: infer P extends z.ZodType; result: infer R extends z.ZodType }
      ? (params: z.input<P>) => Promise<z.output<R>>
      : never;
  };
};

/** By `group.call`; own keys only, so that a name from outside cannot reach a prototype. */
export function callsOf(schema: Schema): ReadonlyMap<string, AnyCall> {
  return new Map(Object.entries(schema.calls).flatMap(([group, calls]) => Object.entries(calls).map(([name, each]) => [`${group}.${name}`, each] as const)));
}
