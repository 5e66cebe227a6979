/** Longer than any message that a probe wants. */
const MAX_EVENT_CHARS = 8 * 1024 * 1024;

/** Takes the data of each event out of a text/event-stream (WHATWG HTML, server-sent events). Names and ids do not matter here. */
export class ServerSentEvents {
  readonly #take: (data: string) => void;
  readonly #decoder = new TextDecoder();
  #rest = '';
  #data: string[] = [];
  #isFirst = true;

  constructor(take: (data: string) => void) {
    this.#take = take;
  }

  /** @returns false once an event is longer than anything that can be meant */
  push(chunk: Uint8Array): boolean {
    this.#rest += this.#decoder.decode(chunk, { stream: true });
    if (this.#isFirst && this.#rest !== '') {
      this.#isFirst = false;
      if (this.#rest.startsWith('\ufeff')) this.#rest = this.#rest.slice(1);
    }
    let from = 0;
    for (;;) {
      const end = lineEnd(this.#rest, from);
      if (end === null) break;
      this.#line(this.#rest.slice(from, end.at));
      from = end.next;
    }
    this.#rest = this.#rest.slice(from);
    return this.#rest.length + this.#data.reduce((sum, each) => sum + each.length, 0) <= MAX_EVENT_CHARS;
  }

  #line(line: string): void {
    if (line === '') {
      if (this.#data.length > 0) this.#take(this.#data.join('\n'));
      this.#data = [];
      return;
    }
    const colon = line.indexOf(':');
    const field = colon === -1 ? line : line.slice(0, colon);
    if (field !== 'data') return;
    const value = colon === -1 ? '' : line.slice(colon + 1);
    this.#data.push(value.startsWith(' ') ? value.slice(1) : value);
  }
}

/** CR LF, LF or CR; a CR at the very end may be half of a pair, so it waits. */
function lineEnd(text: string, from: number): { readonly at: number; readonly next: number } | null {
  for (let at = from; at < text.length; at += 1) {
    const char = text.charCodeAt(at);
    if (char === 10) return { at, next: at + 1 };
    if (char !== 13) continue;
    if (at + 1 === text.length) return null;
    return { at, next: text.charCodeAt(at + 1) === 10 ? at + 2 : at + 1 };
  }
  return null;
}
