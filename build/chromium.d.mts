export function ensureChromium(say: (line: string) => void): string | null;
