export function readArchive(path: string): { readonly headerHash: string; readonly files: Map<string, { readonly unpacked: boolean; readonly data: Buffer; readonly hash: string | null }> };
export type PlistValue = string | number | boolean | PlistValue[] | { [key: string]: PlistValue };
export function readPlist(text: string): { [key: string]: PlistValue };
export function architectures(bytes: Buffer): string[];
export function filesBelow(folder: string): string[];
