import { spawn } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';

/** One check of one scenario, as the suite writes it. */
export interface OfficialCheck {
  readonly scenario: string;
  readonly id: string;
  readonly status: 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';
  readonly errorMessage?: string;
}

export interface OfficialRun {
  /** 0: nothing failed but what the list expects, and all of the list did. */
  readonly code: number | null;
  readonly output: string;
  readonly checks: readonly OfficialCheck[];
}

/** The suite's program, for Node. */
export const officialEntry = join(dirname(createRequire(import.meta.url).resolve('@modelcontextprotocol/conformance/package.json')), 'dist', 'index.js');

/**
 * Runs the official suite's server scenarios of one revision.
 * @param expected YAML of what is expected to fail
 * @param folder where results are written: empty
 */
export async function runOfficialSuite(options: { readonly url: string; readonly revision: string; readonly expected: string; readonly folder: string }): Promise<OfficialRun> {
  const { url, revision, expected, folder } = options;
  const child = spawn(process.execPath, [officialEntry, 'server', '--url', url, '--suite', 'all', '--spec-version', revision, '--timeout', '60000', '--expected-failures', expected, '-o', folder], {
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const code = await new Promise<number | null>((resolve, reject) => child.on('close', resolve).on('error', reject));
  const checks = readdirSync(folder).flatMap((name) => {
    const scenario = name.replace(/^server-/, '').replace(/-\d{4}-\d\d-\d\dT[\d-]+Z$/, '');
    return (JSON.parse(readFileSync(join(folder, name, 'checks.json'), 'utf8')) as Omit<OfficialCheck, 'scenario'>[]).map((check) => ({ ...check, scenario }));
  });
  return { code, output, checks };
}
