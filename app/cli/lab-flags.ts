import { LAB_DEFAULTS, type LabOptions } from '../probe/lab/options.ts';
import { quoted, readFlags } from './arguments.ts';
import type { Env } from './probe-flags.ts';

const MAX_DELAY_MS = 3_600_000;

/**
 * `belfry probe lab`. A string is a sentence about wrong use.
 * @param argv after `lab`
 * @param env `MCP_PROBE_LAB_*`; a flag wins over its variable
 */
export function parseLab(argv: readonly string[], env: Env): LabOptions | string {
  const flags = readFlags(argv, {
    '--stdio': 'flag', '--port': 'value', '--path': 'value', '--delay-ms': 'value', '--initial-status': 'value', '--updated-status': 'value', '--steps': 'value', '--list-changed': 'flag',
    '--data-dir': 'value',
  });
  if (typeof flags === 'string') return flags;
  if (flags.rest.length > 0) return `${quoted(flags.rest[0]!)} is one word too many.`;
  const given = (name: string) => flags.value(`--${name}`) ?? env[`MCP_PROBE_LAB_${name.replaceAll('-', '_').toUpperCase()}`];
  const number = (name: string, standard: number, from: number, to: number) => {
    const text = given(name) ?? String(standard);
    return /^\d{1,9}$/.test(text) && Number(text) >= from && Number(text) <= to ? Number(text) : null;
  };
  const port = number('port', LAB_DEFAULTS.port!, 0, 65_535);
  if (port === null) return '--port takes a whole number from 0 to 65535; 0 takes any free one.';
  const delayMs = number('delay-ms', LAB_DEFAULTS.delayMs, 1, MAX_DELAY_MS);
  if (delayMs === null) return `--delay-ms takes a whole number of milliseconds from 1 to ${MAX_DELAY_MS}.`;
  const steps = number('steps', LAB_DEFAULTS.steps, 1, 1000);
  if (steps === null) return '--steps takes a whole number from 1 to 1000.';
  const path = given('path') ?? LAB_DEFAULTS.path;
  if (!/^\/[\w./~-]{0,200}$/.test(path)) return '--path takes a path that starts with a slash, such as /mcp.';
  const [initialStatus, updatedStatus] = [given('initial-status') ?? LAB_DEFAULTS.initialStatus, given('updated-status') ?? LAB_DEFAULTS.updatedStatus];
  if (initialStatus === updatedStatus) return '--initial-status and --updated-status must differ.';
  return {
    port: flags.has('--stdio') ? null : port, path, delayMs, steps, initialStatus, updatedStatus,
    listChanged: flags.has('--list-changed') || env['MCP_PROBE_LAB_LIST_CHANGED'] === 'true',
  };
}
