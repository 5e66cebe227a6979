import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { startBearerProxy, type BearerProxy } from './bearer-proxy.ts';
import { ring, text } from './conformance-kit.ts';
import { startFixture } from './official-fixture.ts';
import { runOfficialSuite } from './official-suite.ts';
import { tempFolder, type TempFolder } from './temp.ts';
import { startWorld, type World } from './world.ts';

const REVISIONS = ['2026-07-28', '2025-11-25', '2025-06-18'];
const expected = (name: string) => join(import.meta.dirname, 'official', `${name}.yml`);

let folder: TempFolder;
beforeAll(() => {
  folder = tempFolder('official');
});
afterAll(() => folder[Symbol.dispose]());

async function grade(url: string, revision: string, list: string): Promise<string> {
  const results = folder.at(list);
  mkdirSync(results, { recursive: true });
  const { code, output, checks } = await runOfficialSuite({ url, revision, expected: expected(list), folder: results });
  expect(code, output.slice(-4000)).toBe(0);
  // Every message that came was valid against the revision's schema.
  expect(checks.filter(({ id, status }) => id === 'wire-schema-valid' && status !== 'SUCCESS')).toEqual([]);
  return `${list}: ${new Set(checks.map(({ scenario }) => scenario)).size} scenarios, ${checks.filter(({ status }) => status === 'SUCCESS').length} checks passed, ${checks.filter(({ status }) => status === 'FAILURE').length} failed as explained\n`;
}

describe('Belfry on its own stores', () => {
  let world: World;
  let proxy: BearerProxy;
  beforeAll(async () => {
    world = await startWorld({ http: true });
    for (let index = 0; index < 3; index += 1) {
      await ring(world, `Rota ${index}`);
      await text(world);
    }
    proxy = await startBearerProxy(world.engine.http.state.url!, 'test-suite');
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await world[Symbol.asyncDispose]();
  });
  test.each(REVISIONS)('every server scenario of %s', { timeout: 240_000 }, async (revision) => {
    process.stdout.write(await grade(proxy.url, revision, `belfry-${revision}`));
  });
});

describe('the endpoint, with the tools that the suite asks for', () => {
  let world: World;
  let fixture: Awaited<ReturnType<typeof startFixture>>;
  let proxy: BearerProxy;
  beforeAll(async () => {
    world = await startWorld();
    fixture = await startFixture(world);
    proxy = await startBearerProxy(fixture.url, 'test-suite');
  });
  afterAll(async () => {
    await proxy[Symbol.asyncDispose]();
    await fixture.close();
    await world[Symbol.asyncDispose]();
  });
  test.each(REVISIONS)('every server scenario of %s', { timeout: 240_000 }, async (revision) => {
    process.stdout.write(await grade(proxy.url, revision, `endpoint-${revision}`));
  });
});
