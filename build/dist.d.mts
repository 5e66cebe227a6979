export interface BuildKind {
  readonly kind: 'release' | 'development' | 'tests';
  /** Of the signature; '' where nothing is signed. */
  readonly team: string;
  /** Address of the update feed, or ''. */
  readonly feed: string;
  readonly name: string;
  readonly appId: string;
}
export const ARCHS: readonly string[];
export function buildKind(args: readonly string[], env: Record<string, string | undefined>, platform: NodeJS.Platform): BuildKind | { readonly refused: string };
export function buildConfig(kind: BuildKind, where: { readonly output: string; readonly version: string; readonly electronDist?: ((options: { readonly arch: string }) => string) | null }): Record<string, unknown>;
/** The unpacked apps, by architecture. */
export function makeApps(kind: BuildKind, options?: { readonly output?: string }): Promise<string[]>;
