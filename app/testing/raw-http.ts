import { connect } from 'node:net';

export interface RawOptions {
  readonly ms?: number;
  /** Ends it before the peer does. */
  readonly enough?: (text: string) => boolean;
}

/** Writes bytes as they are; gives all that came until the peer closed, or `enough` of it. */
export function rawHttp({ hostname, port }: URL, bytes: string | readonly (string | Buffer)[], { ms = 30_000, enough = () => false }: RawOptions = {}): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname);
    let text = '';
    const done = () => {
      clearTimeout(timer);
      socket.destroy();
      resolve(text);
    };
    const timer = setTimeout(() => {
      socket.destroy();
      reject(new Error(`Neither an end nor enough came within ${ms} ms: ${text.slice(0, 300)}`));
    }, ms);
    socket.on('data', (chunk) => {
      text += chunk.toString('latin1');
      if (enough(text)) done();
    });
    socket.on('close', done);
    socket.on('error', () => undefined);
    for (const part of typeof bytes === 'string' ? [bytes] : bytes) socket.write(part);
  });
}

export const statusOf = (text: string): number => Number(/^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? Number.NaN);
