import { randomInt } from 'node:crypto';

const MINUTE_MS = 60_000;
/** As long as a page may show one: until then the same digits would stand for two requests. */
export const CODE_REST_MS = 600_000;
export const CODES_A_MINUTE = { ofOne: 6, inAll: 20 } as const;

/**
 * The four digits by which the owner tells one request to sign in from another. They are few, so whoever asked often
 * enough would be given the ones of somebody else: asking is limited, and none comes again while it may still be seen.
 */
export class MatchCodes {
  readonly #monotonic: () => number;
  /** Oldest first. */
  #given: readonly { readonly code: string; readonly program: string; readonly at: number }[] = [];

  constructor(monotonic: () => number) {
    this.#monotonic = monotonic;
  }

  /** Null: this program, or all together, asked as often in this minute as may be. @param program by the id of its registration */
  give(program: string): string | null {
    const now = this.#monotonic();
    this.#given = this.#given.filter(({ at }) => at > now - CODE_REST_MS);
    const recent = this.#given.filter(({ at }) => at > now - MINUTE_MS);
    if (recent.length >= CODES_A_MINUTE.inAll || recent.filter((each) => each.program === program).length >= CODES_A_MINUTE.ofOne) return null;
    const code = this.#unused();
    this.#given = [...this.#given, { code, program, at: now }];
    return code;
  }

  /** At most two hundred of ten thousand are taken. */
  #unused(): string {
    for (;;) {
      const code = String(randomInt(10_000)).padStart(4, '0');
      if (this.#given.every((each) => each.code !== code)) return code;
    }
  }
}
