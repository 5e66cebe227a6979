export const SMOKE_USER: string;
export interface SmokeRuntime {
  readonly executable: string;
}
/** The binary, or why there is none. */
export function smokeRuntime(say: (line: string) => void): Promise<SmokeRuntime | { readonly skipped: string }>;
/** Writes a command into the folder that runs the app as an ordinary user; and the Node 24 for its engine. */
export function smokeCommand(runtime: SmokeRuntime, folder: string): { readonly command: string; readonly node: string; readonly home: Record<string, string> };
