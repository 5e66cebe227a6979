import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { z } from 'zod';

/** `newer`: written by a later version, so it is neither read nor written. */
export type JsonFileState = 'read' | 'fresh' | 'broken' | 'newer';

/** A value of the shell's own in the data folder: checked when read, swapped in whole when written. */
export class JsonFile<T extends object> {
  readonly #path: string;
  readonly #version: number;
  readonly #schema: z.ZodType<T>;
  #state: JsonFileState = 'fresh';

  /** @param schema has to fill in what is missing, so that a file of an earlier build is read */
  constructor(path: string, version: number, schema: z.ZodType<T>) {
    this.#path = path;
    this.#version = version;
    this.#schema = schema;
  }

  get state(): JsonFileState {
    return this.#state;
  }

  /** Null where there is nothing to use. A broken file is moved aside, so that it can be looked at. */
  read(): T | null {
    let text: string;
    try {
      text = readFileSync(this.#path, 'utf8');
    } catch {
      this.#state = 'fresh';
      return null;
    }
    const value = parse(text);
    const version = z.object({ version: z.int() }).safeParse(value);
    if (version.success && version.data.version > this.#version) {
      this.#state = 'newer';
      return null;
    }
    const parsed = version.success ? this.#schema.safeParse(value) : null;
    if (parsed?.success) {
      this.#state = 'read';
      return parsed.data;
    }
    this.#state = 'broken';
    renameSync(this.#path, `${this.#path}.broken`);
    return null;
  }

  /** @throws an error of the file system. @returns whether it was written: a later version's file is left alone */
  write(value: T): boolean {
    if (this.#state === 'newer') return false;
    const fresh = `${this.#path}.${process.pid}.new`;
    mkdirSync(dirname(this.#path), { recursive: true, mode: 0o700 });
    try {
      writeFileSync(fresh, `${JSON.stringify({ version: this.#version, ...value }, null, 2)}\n`, { mode: 0o600 });
      renameSync(fresh, this.#path);
    } catch (error) {
      rmSync(fresh, { force: true });
      throw error;
    }
    return true;
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
