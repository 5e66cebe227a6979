import { connect } from 'node:net';

/** Splits the engine's frames (`o|e <length>\n<bytes>`, `x <code>\n`) out of a byte stream. */
export class FrameReader {
  #buffer: Buffer = Buffer.alloc(0);
  readonly #frame: (kind: 'o' | 'e', bytes: Buffer) => void;
  readonly #exit: (code: number) => void;

  constructor(frame: (kind: 'o' | 'e', bytes: Buffer) => void, exit: (code: number) => void) {
    this.#frame = frame;
    this.#exit = exit;
  }

  push(chunk: Buffer): void {
    this.#buffer = Buffer.concat([this.#buffer, chunk]);
    for (;;) {
      const end = this.#buffer.indexOf(10);
      if (end === -1) return;
      const [kind, count] = this.#buffer.toString('latin1', 0, end).split(' ');
      if (kind === 'x') {
        this.#buffer = this.#buffer.subarray(end + 1);
        this.#exit(Number(count));
        continue;
      }
      const length = Number(count);
      if (this.#buffer.length < end + 1 + length) return;
      this.#frame(kind === 'e' ? 'e' : 'o', this.#buffer.subarray(end + 1, end + 1 + length));
      this.#buffer = this.#buffer.subarray(end + 1 + length);
    }
  }
}

export interface CommandOutput {
  out(bytes: Buffer): void;
  err(bytes: Buffer): void;
}

/**
 * Runs one command line in the engine behind `socketPath`. Resolves with the command's exit code, or 3 after a
 * sentence when there is no engine (architecture 3).
 */
export function runRemote(socketPath: string, version: string, argv: readonly string[], output: CommandOutput): Promise<number> {
  return new Promise((resolve) => {
    const socket = connect(socketPath);
    let code: number | null = null;
    let greeting: string | null = '';
    let sentence: string | null = null;
    const frames = new FrameReader((kind, bytes) => (kind === 'o' ? output.out(bytes) : output.err(bytes)), (exit) => { code = exit; });
    socket.on('connect', () => {
      socket.write(`${JSON.stringify({ protocol: 1, version, mode: 'command', argv })}\n`);
    });
    socket.on('data', (chunk: Buffer) => {
      if (greeting === null) return frames.push(chunk);
      greeting += chunk.toString('latin1');
      const end = greeting.indexOf('\n');
      if (end === -1) return;
      const line = Buffer.from(greeting.slice(0, end), 'latin1').toString();
      const rest = Buffer.from(greeting.slice(end + 1), 'latin1');
      greeting = null;
      if (line === 'ok' || line.startsWith('ok ')) frames.push(rest);
      else sentence = line.replace(/^error /, '');
    });
    socket.on('error', (error: NodeJS.ErrnoException) => {
      sentence ??= error.code === 'EACCES' || error.code === 'EPERM'
        ? 'The engine belongs to another user.'
        : 'No Belfry engine runs on this data folder. Start Belfry, or "belfry serve" with the same --data-dir.';
    });
    socket.on('close', () => {
      if (code !== null) return resolve(code);
      output.err(Buffer.from(`belfry: ${sentence ?? 'the engine went away before it answered.'}\n`));
      resolve(3);
    });
  });
}
