import type { Json } from './json-text.ts';

/** A server's entry in a settings file: an object of JSON values, in the order in which it is written. */
export type ServerEntry = Readonly<Record<string, Json>>;

/** One server as it stands in a file. */
export interface Server {
  /** Where the map of servers is, from the root. */
  readonly place: readonly string[];
  readonly key: string;
  /** Null where the value is no object. */
  readonly entry: ServerEntry | null;
}

/** A settings file's format: texts in, texts out, no files. Each function throws SettingsTrouble. */
export interface SettingsFormat {
  /** Every server at each place; a place that isn't there has none. */
  servers(text: string): readonly Server[];
  /** Where a new entry goes. */
  place(text: string): readonly string[];
  /** The text with a new entry. @param key not there yet */
  add(text: string, place: readonly string[], key: string, entry: ServerEntry): string;
  /** The text in which the entry has these values; its other values stay. */
  update(text: string, place: readonly string[], key: string, entry: ServerEntry): string;
  /** The text without the entry. */
  remove(text: string, place: readonly string[], key: string): string;
}

export const HELPER = 'belfry-mcp';

/** The program that an entry starts: a path, an argument list, or the older form with `path`. Null: none. */
export function commandOf(entry: ServerEntry | null): string | null {
  const command = entry?.command;
  if (typeof command === 'string') return command;
  if (Array.isArray(command)) return typeof command[0] === 'string' ? command[0] : null;
  if (typeof command === 'object' && command !== null) {
    const path = (command as Readonly<Record<string, Json>>).path;
    return typeof path === 'string' ? path : null;
  }
  return null;
}

/** Ours: it starts the helper inside an app bundle, or the very file that this copy would write. @param shim absolute path */
export function isOurs(entry: ServerEntry | null, shim: string): boolean {
  const command = commandOf(entry);
  return command !== null && (command === shim || (command.includes('.app/') && command.endsWith(`/${HELPER}`)));
}
