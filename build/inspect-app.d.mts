import type { BuildKind } from './dist.mjs';
export const MAX_BYTES: number;
export function shippedList(): string[];
export function withoutHash(path: string): string;
export function inspectApp(app: string, kind: BuildKind): Promise<{ readonly findings: string[]; readonly bytes: number; readonly files: string[] }>;
export function signatureFindings(
  app: string, kind: Pick<BuildKind, 'kind' | 'team'>, run: (command: string, args: readonly string[]) => { readonly status: number | null; readonly stdout: string; readonly stderr: string },
): string[];
