import { join } from 'node:path';
import { version } from '../engine/version.ts';
import { systemClock } from '../events/clock.ts';
import { openBelfrySocket } from '../probe/belfry-socket.ts';
import type { LabOptions } from '../probe/lab/options.ts';
import { outsideOf } from '../probe/outside.ts';
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
  const lab = async (options: LabOptions) => {
    // Its server is a good part of the SDK, and no other action needs it.
    const { runLab } = await import('../probe/lab/lab.ts');
    const evidence = (line: string) => void process.stderr.write(`${line}\n`);
    await runLab(options, { clock: systemClock, version, stdin: process.stdin, stdout: process.stdout, evidence, interrupt: interrupt.signal });
  };
  // Timers alone keep no process alive here.
  const alive = setInterval(() => undefined, 1 << 30);
  try {
    return await probeCommand(argv, env, {
      clock: systemClock, version, interrupt: interrupt.signal,
      openBelfry: (channel, socket) => openBelfrySocket(socket ?? socketPathOf(dataDir), version, channel),
      outside: outsideOf({
        env: Object.fromEntries(Object.entries(env).filter(([name]) => !OURS.includes(name))),
        tokenFolder: env['MCP_PROBE_TOKEN_STORE_PATH'] || join(dataDir, 'probe'),
        token: env['MCP_PROBE_AUTH_TOKEN'] || null,
        clientId: env['MCP_PROBE_CLIENT_ID'] || null,
        network: {},
      }),
      lab,
    }, {
      out: (text) => void process.stdout.write(text),
      err: (text) => void process.stderr.write(text),
    });
  } finally {
    clearInterval(alive);
  }
}
