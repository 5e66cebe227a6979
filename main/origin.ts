/** The pages' own scheme: no file: address, so that a page can reach nothing but the files it was built from. */
export const SCHEME = 'app';
export const HOST = 'belfry';
export const ORIGIN = `${SCHEME}://${HOST}`;

/** Channels between the preload script and main: everything passes the gate. */
export const CHANNELS = { toShell: 'belfry:to-shell', fromShell: 'belfry:from-shell', wantEngine: 'belfry:want-engine', engine: 'belfry:engine-port' } as const;

export type View = 'window' | 'panel' | 'onboarding';
export const addressOf = (view: View): string => `${ORIGIN}/?view=${view}`;

/** @param url a frame's or a navigation's address */
export function isOwnAddress(url: string): boolean {
  if (!URL.canParse(url)) return false;
  const { protocol, host } = new URL(url);
  return protocol === `${SCHEME}:` && host === HOST;
}
