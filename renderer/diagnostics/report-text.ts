import type { DiagnosticRow } from '../../app/contract/values.ts';

const WORDS: Readonly<Record<DiagnosticRow['state'], string>> = { ok: 'ok', warning: 'warning', problem: 'problem', 'cant-check': "can't check" };

/**
 * The rows as text to send to somebody. Rows carry no names, addresses, subjects or file contents; folders of the owner
 * carry a name, so the home folder becomes `~` here.
 */
export function reportText(version: string, rows: readonly DiagnosticRow[], now: number): string {
  const lines = rows.map(({ state, title, evidence, fix }) => `(${WORDS[state]}) ${title}: ${withoutHome(evidence)}${fix === null ? '' : ` [${withoutHome(fix)}]`}`);
  return [`Belfry ${version}, ${new Date(now).toISOString()}`, ...lines, ''].join('\n');
}

const withoutHome = (text: string): string => text.replace(/\/(?:Users|home)\/(?:[^/\n]{1,64}(?=\/)|[^/\s]+)/g, '~');
