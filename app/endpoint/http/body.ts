import type { IncomingMessage } from 'node:http';

/** `aborted`: the peer went, or sent other than it announced. */
export type Body = { readonly text: string } | { readonly fault: 'too-large' | 'not-utf8' | 'aborted' };

const utf8 = new TextDecoder('utf-8', { fatal: true });

/**
 * Reads the whole body as UTF-8. What is too large is not read on: the connection has to be closed by the answer.
 * @param max bytes
 */
export function readBody(request: IncomingMessage, max: number): Promise<Body> {
  // A length that is announced is believed only in this direction.
  if (Number(request.headers['content-length'] ?? 0) > max) return Promise.resolve({ fault: 'too-large' });
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const end = (body: Body) => {
      request.off('data', onData).off('end', onEnd).off('close', onClose);
      resolve(body);
    };
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      if (length > max) {
        request.pause();
        return end({ fault: 'too-large' });
      }
      chunks.push(chunk);
    };
    const onEnd = () => {
      try {
        end({ text: utf8.decode(chunks.length === 1 ? chunks[0] : Buffer.concat(chunks)) });
      } catch {
        end({ fault: 'not-utf8' });
      }
    };
    const onClose = () => end({ fault: 'aborted' });
    request.on('data', onData).on('end', onEnd).on('close', onClose).on('error', onClose);
  });
}
