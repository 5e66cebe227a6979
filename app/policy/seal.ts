import { createHmac, timingSafeEqual } from 'node:crypto';
import type { Settings } from './settings.ts';

/** Where the last counter is kept, apart from the settings file: so an older sealed file that is put back is noticed. */
export interface SealCounter {
  /** Null: nothing was ever sealed here. */
  last(): number | null;
  keep(counter: number): void;
}

/** `none`: no key was given (headless). `broken`: the file is not what was written last, so everything is off. */
export type SealState = 'ok' | 'none' | 'broken';

const MIN_KEY_BYTES = 32;

/**
 * The seal of settings (architecture 2): an HMAC-SHA256 over the file's content and a counter that only rises, with
 * a key that only the app's host can read. Any program of the same user can write the file; none can seal it.
 */
export class Sealer {
  readonly #key: Buffer;
  readonly #counter: SealCounter;
  #highest: number | null;

  /** @param key base64, 32 bytes or more. @throws where it is not */
  constructor(key: string, counter: SealCounter) {
    this.#key = Buffer.from(key, 'base64');
    if (this.#key.length < MIN_KEY_BYTES) throw new Error('The key of the seal is too short');
    this.#counter = counter;
    this.#highest = counter.last();
  }

  /** Whether something was sealed here before: then a file without a seal, or none at all, is not ours. */
  get isDue(): boolean {
    return this.#highest !== null && this.#highest > 0;
  }

  /** Whether the file's content is what was sealed last. @param content the parsed JSON as it stands in the file */
  holds(content: unknown): boolean {
    if (typeof content !== 'object' || content === null) return false;
    const { seal, ...rest } = content as Record<string, unknown>;
    const { mac, counter } = (seal ?? {}) as Record<string, unknown>;
    if (typeof mac !== 'string' || typeof counter !== 'number' || !Number.isSafeInteger(counter)) return false;
    const [given, wanted] = [Buffer.from(mac, 'base64'), this.#mac(rest, counter)];
    if (given.length !== wanted.length || !timingSafeEqual(given, wanted)) return false;
    // Equal or one ahead: a kill between the file and the counter. Without a counter nothing says that it is the last.
    if (this.#highest === null || counter < this.#highest) return false;
    this.#keep(counter);
    return true;
  }

  /** The settings with their next seal. Call `written` once they are on disk. */
  sealed(settings: Settings): Settings {
    // Marks the folder before the first file: a kill in between must not make that file look foreign.
    if (this.#highest === null) this.#keep(0);
    const counter = (this.#highest ?? 0) + 1;
    const { seal: _, ...rest } = settings;
    return { ...settings, seal: { mac: this.#mac(rest, counter).toString('base64'), counter } };
  }

  written(settings: Settings): void {
    if (settings.seal !== null) this.#keep(settings.seal.counter);
  }

  #keep(counter: number): void {
    const isNew = counter !== this.#highest;
    this.#highest = counter;
    try {
      if (isNew) this.#counter.keep(counter);
    } catch {
      // A full disk: a counter that lags still lets the newest file pass, and is kept with the next change.
    }
  }

  #mac(content: Record<string, unknown>, counter: number): Buffer {
    return createHmac('sha256', this.#key).update(`belfry settings ${counter}\n`).update(canonical(content)).digest();
  }
}

/** JSON with sorted keys: the same for every spelling of one value. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const entries = Object.entries(value).filter(([, each]) => each !== undefined).sort(([a], [b]) => (a < b ? -1 : 1));
  return `{${entries.map(([key, each]) => `${JSON.stringify(key)}:${canonical(each)}`).join(',')}}`;
}
