import { createHash, randomBytes } from 'node:crypto';
import { chmodSync, closeSync, constants, fstatSync, mkdirSync, openSync, readFileSync, renameSync, rmSync, statSync, unlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import type { Deadline } from '../deadline.ts';
import { ProbeFailure } from '../failure.ts';

const stored = z.strictObject({
  version: z.literal(1),
  /** The address that the tokens are for. */
  resource: z.string(),
  issuer: z.string(),
  clientId: z.string(),
  clientSecret: z.string().nullable(),
  accessToken: z.string(),
  refreshToken: z.string().nullable(),
  /** Unix ms. */
  obtainedAt: z.number(),
  /** Unix ms; null: the server did not say. */
  expiresAt: z.number().nullable(),
});

export type StoredTokens = z.infer<typeof stored>;

/** A lock that is older than any renewal is left over from a killed process. */
const STALE_MS = 60_000;
const LOOK_MS = 50;

/**
 * Tokens of servers, one file each, for their owner's eyes only: the folder 0700, the files 0600. A run that never
 * logs in makes neither.
 */
export class TokenStore {
  readonly #folder: string;

  constructor(folder: string) {
    this.#folder = folder;
  }

  /** Null where there is none, and for a file that another user owns or that is no file of ours. */
  read(resource: string): StoredTokens | null {
    let file: number | null = null;
    try {
      file = openSync(this.#path(resource), constants.O_RDONLY | constants.O_NOFOLLOW);
      const facts = fstatSync(file);
      if (!facts.isFile() || facts.uid !== process.getuid?.() || (facts.mode & 0o077) !== 0) return null;
      const parsed = stored.safeParse(JSON.parse(readFileSync(file, 'utf8')));
      return parsed.success && parsed.data.resource === resource ? parsed.data : null;
    } catch {
      return null;
    } finally {
      if (file !== null) closeSync(file);
    }
  }

  /** @throws ProbeFailure */
  write(tokens: StoredTokens): void {
    const path = this.#path(tokens.resource);
    const draft = `${path}.${randomBytes(6).toString('hex')}`;
    try {
      mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
      chmodSync(this.#folder, 0o700);
      writeFileSync(draft, JSON.stringify(tokens), { mode: 0o600, flag: 'wx' });
      renameSync(draft, path);
    } catch {
      rmSync(draft, { force: true });
      throw new ProbeFailure('AUTH_FAILED', 'The token cannot be kept: its folder cannot be written to.', 'Check who owns the data folder, or name another in MCP_PROBE_TOKEN_STORE_PATH.');
    }
  }

  /** @returns whether there was one */
  remove(resource: string): boolean {
    try {
      unlinkSync(this.#path(resource));
      return true;
    } catch {
      return false;
    }
  }

  /** Holds one server's tokens for this process, so that no refresh token is used twice. @returns what lets go of them */
  async lock(resource: string, deadline: Deadline): Promise<() => void> {
    mkdirSync(this.#folder, { recursive: true, mode: 0o700 });
    const path = `${this.#path(resource)}.lock`;
    for (;;) {
      try {
        writeFileSync(path, String(process.pid), { mode: 0o600, flag: 'wx' });
        return () => rmSync(path, { force: true });
      } catch (error) {
        if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw new ProbeFailure('AUTH_FAILED', 'The folder of the tokens cannot be written to.');
      }
      if (isStale(path)) rmSync(path, { force: true });
      else if (!(await deadline.pause(LOOK_MS))) throw new ProbeFailure('AUTH_TIMEOUT', 'Another process renews this token and did not finish in time.');
    }
  }

  #path(resource: string): string {
    return join(this.#folder, `${createHash('sha256').update(resource).digest('hex').slice(0, 32)}.json`);
  }
}

function isStale(path: string): boolean {
  try {
    if (Date.now() - statSync(path).mtimeMs > STALE_MS) return true;
    const pid = Number(readFileSync(path, 'utf8'));
    // Made a moment ago and not written yet.
    if (!Number.isSafeInteger(pid) || pid <= 0) return false;
    process.kill(pid, 0);
    return false;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ESRCH';
  }
}
