/** Shorter ones would take common words out of the output. */
const MIN_LENGTH = 6;
const MASK = '(secret)';

/** What must never be printed, whoever says it: a server may quote a token in what it answers. */
export class Secrets {
  readonly #values = new Set<string>();

  add(value: string): void {
    if (value.length >= MIN_LENGTH) for (const form of [value, encodeURIComponent(value), JSON.stringify(value).slice(1, -1), Buffer.from(value).toString('base64')]) this.#values.add(form);
  }

  clean(text: string): string {
    let clean = text;
    // Longer ones first: one may hold another.
    for (const value of [...this.#values].sort((a, b) => b.length - a.length)) clean = clean.replaceAll(value, MASK);
    return clean;
  }
}
