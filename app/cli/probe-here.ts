import { join } from 'node:path';
import { version } from '../engine/version.ts';
import { systemClock } from '../events/clock.ts';
import { openBelfrySocket } from '../probe/belfry-socket.ts';
import { socketPathOf } from './data-folder.ts';
import { probeCommand } from './probe-command.ts';

/** Secrets of this program that no other program has to get. */
const OURS = ['MCP_PROBE_AUTH_TOKEN'];

/** `belfry probe` in this process. @param argv after `probe` */
export async function probeHere(argv: readonly string[], dataDir: string): Promise<number> {
  const { env } = process;
  const interrupt = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.once(signal, () => interrupt.abort());
  // Whoever reads may have seen enough: `| head` is no fault.
  for (const stream of [process.stdout, process.stderr]) stream.on('error', () => interrupt.abort());
  // Timers alone keep no process alive here.
  const alive = setInterval(() => undefined, 1 << 30);
  try {
    return await probeCommand(argv, env, {
      clock: systemClock, version, interrupt: interrupt.signal,
      openBelfry: (channel, socket) => openBelfrySocket(socket ?? socketPathOf(dataDir), version, channel),
      outside: {
        env: Object.fromEntries(Object.entries(env).filter(([name]) => !OURS.includes(name))),
        tokenFolder: env['MCP_PROBE_TOKEN_STORE_PATH'] || join(dataDir, 'probe'),
        token: env['MCP_PROBE_AUTH_TOKEN'] || null,
        clientId: env['MCP_PROBE_CLIENT_ID'] || null,
        network: {},
      },
    }, {
      out: (text) => void process.stdout.write(text),
      err: (text) => void process.stderr.write(text),
    });
  } finally {
    clearInterval(alive);
  }
}
