import { skillText } from '../contract/skill.ts';
import { ProbeFailure, toFailure } from '../probe/failure.ts';
import { runProbe, type ProbeHost } from '../probe/probe.ts';
import { usage } from '../probe/report.ts';
import { parseLab } from './lab-flags.ts';
import { notThroughHelper, parseProbe, type Env } from './probe-flags.ts';
import { PROBE_HELP } from './probe-help.ts';

export interface ProbeOutput {
  out(text: string): void;
  err(text: string): void;
}

/** Edges of `belfry probe`, wherever it runs. Without an outside it runs in the engine. */
export type ProbeCommandHost = Omit<ProbeHost, 'note'>;

/**
 * @param argv after `probe`
 * @returns the exit code (architecture 3)
 */
export async function probeCommand(argv: readonly string[], env: Env, host: ProbeCommandHost, output: ProbeOutput): Promise<number> {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  if (words.includes('--help') || words.includes('-h')) return say(output, PROBE_HELP);
  if (words.includes('--skill')) return say(output, skillText());
  const note = (line: string) => output.err(`belfry: ${line}\n`);
  if (argv[0] === 'lab') return lab(argv.slice(1), env, host, note, (line) => output.err(`${line}\n`));
  const parsed = parseProbe(argv, env, host.outside === null);
  if (!parsed.ok) {
    if (words.includes('--json')) output.out(usage(argv[0], new ProbeFailure(parsed.code, parsed.message)));
    else note(parsed.message);
    return 3;
  }
  const { exit, stdout } = await runProbe(parsed.request, { ...host, note });
  output.out(stdout);
  return exit;
}

async function lab(argv: readonly string[], env: Env, host: ProbeCommandHost, note: (line: string) => void, evidence: (line: string) => void): Promise<number> {
  const options = host.outside === null ? notThroughHelper('"lab"').message : parseLab(argv, env);
  if (typeof options === 'string') {
    note(options);
    return 3;
  }
  // Its server is a good part of the SDK, and no other action needs it.
  const { runLab } = await import('../probe/lab/lab.ts');
  try {
    await runLab(options, { clock: host.clock, version: host.version, stdin: process.stdin, stdout: process.stdout, evidence, interrupt: host.interrupt ?? new AbortController().signal });
    return 0;
  } catch (error) {
    const failure = toFailure(error);
    note(failure.message);
    return failure.exit;
  }
}

function say(output: ProbeOutput, text: string): number {
  output.out(text);
  return 0;
}
