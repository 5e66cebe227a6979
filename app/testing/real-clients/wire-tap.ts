import { chmodSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { nativeFile } from '../../engine/host.ts';
import type { EmptyHome } from './empty-home.ts';

type Message = Record<string, any>;

export interface Exchange {
  readonly method: string;
  readonly request: Message;
  /** Result or error; null while there is none. */
  readonly answer: Message | null;
}

/** What one client said to one helper, and what it was answered. */
export interface Wire {
  readonly exchanges: readonly Exchange[];
  /** Methods that it was told of unasked. */
  readonly notices: readonly string[];
}

/** The real helper with `tee` on both of its pipes: every byte of every connection is kept as it passes. */
export class WireTap {
  readonly #folder: string;
  /** Stands where the helper's path stands. */
  readonly command: string;

  constructor(home: EmptyHome) {
    this.#folder = home.at('wire');
    mkdirSync(this.#folder);
    this.command = home.write('belfry-mcp', `#!/bin/sh\ntee '${this.#folder}/'$$.in | '${nativeFile('belfry-mcp')}' "$@" | tee '${this.#folder}/'$$.out\n`);
    chmodSync(this.command, 0o755);
  }

  wires(): Wire[] {
    return readdirSync(this.#folder).filter((name) => name.endsWith('.in')).map((name) => {
      const said = this.#lines(name);
      const answers = new Map(this.#lines(name.replace(/in$/, 'out')).flatMap((line) => ('id' in line && !('method' in line) ? [[JSON.stringify(line['id']), line] as const] : [])));
      return {
        exchanges: said.filter((line) => 'id' in line && 'method' in line).map((request) => ({ method: request['method'] as string, request, answer: answers.get(JSON.stringify(request['id'])) ?? null })),
        notices: this.#lines(name.replace(/in$/, 'out')).filter((line) => !('id' in line)).map((line) => line['method'] as string),
      };
    });
  }

  #lines(name: string): Message[] {
    // What follows the last newline is not whole yet.
    return readFileSync(`${this.#folder}/${name}`, 'utf8').split('\n').slice(0, -1).map((line) => JSON.parse(line) as Message);
  }
}

const LADDER = [['initialize'], ['tools/list', 'tools/call'], ['server/discover'], ['events/list'], ['events/poll'], ['events/stream']];

/**
 * How far a client came by itself: 0 not seen, 1 connects, 2 tools, 3 discovers the modern protocol, 4 lists events,
 * 5 polls, 6 holds a stream. That an event came before the model (7) cannot be seen on the wire.
 */
export function levelOf(wires: readonly Wire[]): number {
  const answered = wires.flatMap(({ exchanges }) => exchanges.filter(({ answer }) => answer !== null && 'result' in answer).map(({ method }) => method));
  return LADDER.findLastIndex((methods) => methods.some((method) => answered.includes(method))) + 1;
}
