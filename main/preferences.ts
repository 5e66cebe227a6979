import { join } from 'node:path';
import { z } from 'zod';
import { DEFAULT_PREFERENCES, preferences, type Preferences } from '../app/contract/shell.ts';
import { JsonFile, type JsonFileState } from './json-file.ts';

export type PreferenceChange = { readonly ok: true; readonly changed: boolean } | { readonly ok: false; readonly sentence: string };

/** What the owner chose about the app's own behaviour. Nothing here widens what is sent, so it is not sealed. */
export class PreferencesStore {
  readonly #file: JsonFile<Preferences>;
  readonly #listeners = new Set<(now: Preferences, before: Preferences) => void>();
  #value: Preferences;

  constructor(dataDir: string) {
    // What is missing gets its default; what no longer fits makes the file broken.
    const filled = z.preprocess((value) => ({ ...DEFAULT_PREFERENCES, ...(value as object) }), preferences);
    this.#file = new JsonFile(join(dataDir, 'preferences.json'), 1, filled);
    this.#value = this.#file.read() ?? DEFAULT_PREFERENCES;
  }

  get value(): Preferences {
    return this.#value;
  }
  get fileState(): JsonFileState {
    return this.#file.state;
  }

  onChange(listener: (now: Preferences, before: Preferences) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  set(key: keyof Preferences, value: unknown): PreferenceChange {
    const parsed = preferences.shape[key].safeParse(value);
    if (!parsed.success) return { ok: false, sentence: `${key} can't be ${JSON.stringify(String(value).slice(0, 32))}.` };
    if (this.#value[key] === parsed.data) return { ok: true, changed: false };
    const before = this.#value;
    const now = { ...before, [key]: parsed.data };
    try {
      if (!this.#file.write(now)) return { ok: false, sentence: 'The preferences were written by a newer Belfry, so this one leaves them alone.' };
    } catch {
      return { ok: false, sentence: "Couldn't write the preferences. The data folder can't be written to." };
    }
    this.#value = now;
    for (const listener of this.#listeners) listener(now, before);
    return { ok: true, changed: true };
  }
}
