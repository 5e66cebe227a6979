import { connect } from 'node:net';
import { ProbeFailure } from './failure.ts';
import { pipeOf, type Pipe } from './pipe-link.ts';

/**
 * Connects to an engine as a client does and says the first line (architecture 6).
 * @param channel the older handshake with a channel is wanted
 * @throws ProbeFailure
 */
export function openBelfrySocket(path: string, version: string, channel: boolean): Promise<Pipe> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    let greeting: Buffer = Buffer.alloc(0);
    const fail = (failure: ProbeFailure) => {
      socket.destroy();
      reject(failure);
    };
    const onData = (chunk: Buffer) => {
      greeting = Buffer.concat([greeting, chunk]);
      const end = greeting.indexOf(10);
      if (end === -1 && greeting.length < 4096) return;
      socket.off('data', onData);
      socket.pause();
      const line = greeting.toString('utf8', 0, Math.max(end, 0));
      if (line !== 'ok' && !line.startsWith('ok ')) return fail(refused(line));
      socket.unshift(greeting.subarray(end + 1));
      // A signed app looks at who connects after it said hello, and hangs up on what is not its helper.
      const why = () => (socket.bytesRead > end + 1 ? null : hungUp());
      resolve({ ...pipeOf(socket), why });
    };
    socket.on('connect', () => void socket.write(`${JSON.stringify({ protocol: 1, version, mode: 'mcp', label: 'probe', channel })}\n`));
    socket.on('data', onData);
    socket.on('error', (error: NodeJS.ErrnoException) => fail(unreachable(error.code)));
    socket.on('close', () => fail(hungUp()));
  });
}

const hungUp = () => new ProbeFailure('SOCKET_REFUSED', 'Belfry closed the connection before it answered anything.');

function refused(line: string): ProbeFailure {
  const sentence = line.startsWith('error ') ? line.slice('error '.length) : 'What answered on the socket is no Belfry engine.';
  return new ProbeFailure('SOCKET_REFUSED', sentence);
}

function unreachable(code: string | undefined): ProbeFailure {
  if (code === 'EACCES' || code === 'EPERM') return new ProbeFailure('SOCKET_REFUSED', 'The engine belongs to another user.');
  return new ProbeFailure('APP_NOT_RUNNING', 'No Belfry engine runs on this data folder.');
}
