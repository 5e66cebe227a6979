import { skillText } from '../contract/skill.ts';
import { ProbeFailure } from '../probe/failure.ts';
import { runProbe, type ProbeHost } from '../probe/probe.ts';
import { usage } from '../probe/report.ts';
import { parseProbe, type Env } from './probe-flags.ts';
import { PROBE_HELP } from './probe-help.ts';

export interface ProbeOutput {
  out(text: string): void;
  err(text: string): void;
}

/**
 * `belfry probe ...`, wherever it runs.
 * @param argv after `probe`
 * @returns the exit code (architecture 3)
 */
export async function probeCommand(argv: readonly string[], env: Env, host: Omit<ProbeHost, 'note'>, output: ProbeOutput): Promise<number> {
  const end = argv.indexOf('--');
  const words = end === -1 ? argv : argv.slice(0, end);
  if (words.includes('--help') || words.includes('-h')) return say(output, PROBE_HELP);
  if (words.includes('--skill')) return say(output, skillText());
  const parsed = parseProbe(argv, env);
  if (!parsed.ok) {
    if (words.includes('--json')) output.out(usage(argv[0], new ProbeFailure(parsed.code, parsed.message)));
    else output.err(`belfry: ${parsed.message}\n`);
    return 3;
  }
  const { exit, stdout } = await runProbe(parsed.request, { ...host, note: (line) => output.err(`belfry: ${line}\n`) });
  output.out(stdout);
  return exit;
}

function say(output: ProbeOutput, text: string): number {
  output.out(text);
  return 0;
}
