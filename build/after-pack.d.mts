export function fuses(inspect?: boolean): Record<string | number, unknown>;
export function withoutArbitraryLoads(plist: string): string;
