/** Texts that go out together: what is written in one turn of the loop is one call to the system, and one packet. */
export class Batch {
  readonly #write: (text: string) => void;
  #texts: string[] = [];
  #length = 0;
  #isDue = false;

  /** @param write takes all of them as one text */
  constructor(write: (text: string) => void) {
    this.#write = write;
  }

  /** Characters that wait. */
  get length(): number {
    return this.#length;
  }

  add(text: string): void {
    this.#texts.push(text);
    this.#length += text.length;
    if (this.#isDue) return;
    this.#isDue = true;
    queueMicrotask(() => this.flush());
  }

  flush(): void {
    this.#isDue = false;
    if (this.#texts.length === 0) return;
    const text = this.#texts.length === 1 ? this.#texts[0]! : this.#texts.join('');
    this.clear();
    this.#write(text);
  }

  /** What waits goes nowhere. */
  clear(): void {
    this.#texts = [];
    this.#length = 0;
  }
}
