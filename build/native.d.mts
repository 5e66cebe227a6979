export function nativeTargets(options: { root: string; defines?: string[] }): Record<string, string[]>;
export function compile(args: string[], output: string): void;
export function buildNative(options: { root: string; log: (line: string) => void; folder?: string; defines?: string[] }): Promise<string>;
