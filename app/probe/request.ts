import type { JsonObject } from './link.ts';

/** The server that is probed. */
export type Target =
  /** Belfry itself, over its socket: the one named, or that of the data folder. */
  | { readonly kind: 'belfry'; readonly socket: string | null }
  /** A program that speaks MCP over its stdio; started without a shell. */
  | { readonly kind: 'command'; readonly file: string; readonly args: readonly string[] }
  /** A Streamable HTTP server. */
  | { readonly kind: 'http'; readonly url: URL };

/** Which handshake: `auto` takes the newer if the server has it. */
export type Era = 'auto' | 'modern' | 'legacy';

/** A member of what arrived, by its path, and the text that it must have. */
export interface Until {
  readonly path: readonly string[];
  readonly value: string;
}

export type Action =
  | { readonly do: 'list' }
  | { readonly do: 'poll'; readonly event: string; readonly args: JsonObject; readonly cursor: string | null; readonly max: number | null; readonly maxAgeMs: number | null }
  | { readonly do: 'wait'; readonly event: string; readonly args: JsonObject; readonly cursor: string | null; readonly maxAgeMs: number | null; readonly count: number; readonly until: Until | null; readonly failOnGap: boolean }
  | { readonly do: 'watch'; readonly uri: string; readonly count: number; readonly until: Until | null }
  | { readonly do: 'call'; readonly tool: string; readonly args: JsonObject }
  | { readonly do: 'channel'; readonly count: number }
  /** Gets a token, and nothing else. */
  | { readonly do: 'login' }
  | { readonly do: 'logout' };

export interface ProbeRequest {
  readonly action: Action;
  readonly target: Target;
  readonly era: Era;
  /** For all of it. */
  readonly timeoutMs: number;
  /** Takes the event or the resource without looking for it in the list. */
  readonly skipList: boolean;
  /** Shows words of messages too, where a server sends them. */
  readonly includeText: boolean;
  readonly json: boolean;
  readonly login: boolean;
}
