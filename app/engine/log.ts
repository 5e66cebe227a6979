/**
 * The engine's log: one line of counts, ids and kinds. Never an address, a subject, a path of mail or a
 * message of a foreign error: those may quote what they failed on.
 */
export interface Log {
  (line: string): void;
}

/** What may be said of an unexpected error: its class, its code and where in our own code it came up. */
export function describeFault(error: unknown): string {
  if (!(error instanceof Error)) return typeof error;
  const { code } = error as { code?: unknown };
  const frame = /\n\s+at (?:async )?([\w.#<>]+) .*?([\w-]+\.[cm]?[tj]s):(\d+)/.exec(error.stack ?? '');
  return `${error.name}${typeof code === 'string' ? ` ${code}` : ''}${frame ? ` in ${frame[1]} (${frame[2]}:${frame[3]})` : ''}`;
}
