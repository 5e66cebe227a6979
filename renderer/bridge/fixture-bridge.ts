import type { Bridge } from '../../app/contract/bridge.ts';
import { FIXTURE_NOW } from '../fixtures/made-up.ts';
import { fixtures } from '../fixtures/fixtures.ts';
import { FixtureWorld } from '../fixtures/fixture-world.ts';
import type { Session } from './choose.ts';

declare global {
  interface Window {
    /** For tests: what happens outside the page. */
    belfryFixture?: FixtureWorld;
  }
}

/** Serves both schemas inside the page. An unknown name gives the fixture `listening`. */
export function fixtureSession(name: string): Session {
  const started = performance.now();
  const now = () => FIXTURE_NOW + Math.round(performance.now() - started);
  const world = new FixtureWorld((Object.hasOwn(fixtures, name) ? fixtures[name]! : fixtures.listening!)(), now);
  window.belfryFixture = world;
  return { bridge: world satisfies Bridge, now };
}
