export interface Chunk {
  readonly file: string;
  readonly name: string;
  readonly imports: readonly string[];
  readonly entry: boolean;
  /** Bytes. */
  readonly gzip: number;
}
export const pageFolder: string;
/** Whether dist/page was built from the sources as they are. */
export function pageIsFresh(): boolean;
export function buildPage(options?: { readonly folder?: string; readonly shipped?: boolean }): Promise<Chunk[]>;
/** The gzip bytes of the JavaScript that a page with this view needs at its start. */
export function initialBytes(chunks: readonly Chunk[], view: 'window' | 'panel' | 'onboarding'): number;
