import type { Bridge } from '../../app/contract/bridge.ts';
import { httpBridge } from './http-bridge.ts';
import { preloadBridge } from './preload-bridge.ts';

declare const BELFRY_SHIPPED: boolean | undefined;

export interface Session {
  readonly bridge: Bridge;
  /** Unix ms. Fixtures stand at one moment, so that a picture of them is the same every day. */
  readonly now: () => number;
}

/** The app's preload script, a fixture named in the address, or the page server. Made-up values are loaded only for a fixture. */
export async function chooseSession(query: URLSearchParams): Promise<Session> {
  const fixture = query.get('fixture');
  if (window.belfry) return { bridge: preloadBridge(window.belfry), now: Date.now };
  // Only the app has this page then: neither of the other bridges is in it.
  if (typeof BELFRY_SHIPPED === 'boolean' && BELFRY_SHIPPED) throw new Error('This page was opened outside Belfry.');
  if (fixture !== null) {
    const { fixtureSession } = await import('./fixture-bridge.ts');
    return fixtureSession(fixture);
  }
  return { bridge: httpBridge(), now: Date.now };
}
