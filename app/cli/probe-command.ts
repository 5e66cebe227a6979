import { skillText } from '../contract/skill.ts';
import { ProbeFailure, toFailure } from '../probe/failure.ts';
import type { LabOptions } from '../probe/lab/options.ts';
import { runProbe, type ProbeHost } from '../probe/probe.ts';
import { usage } from '../probe/report.ts';
import { parseLab } from './lab-flags.ts';
import { notThroughHelper, parseProbe, type Env } from './probe-flags.ts';
import { PROBE_HELP } from './probe-help.ts';

export interface ProbeOutput {
  out(text: string): void;
  err(text: string): void;
}

/** Edges of `belfry probe`, wherever it runs. Without an outside and a laboratory it runs in the engine, for the helper. */
export interface ProbeCommandHost extends Omit<ProbeHost, 'note'> {
  /** Runs until it is interrupted. */
  readonly lab: ((options: LabOptions) => Promise<void>) | null;
}

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
  if (argv[0] === 'lab') return runLab(argv.slice(1), env, host.lab, note);
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

async function runLab(argv: readonly string[], env: Env, lab: ProbeCommandHost['lab'], note: (line: string) => void): Promise<number> {
  const options = parseLab(argv, env);
  if (lab === null || typeof options === 'string') {
    note(lab === null ? notThroughHelper('"lab"').message : String(options));
    return 3;
  }
  try {
    await lab(options);
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
