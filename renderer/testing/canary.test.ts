import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { canary, findCanary } from '../../app/testing/canary.ts';
import { pageFolder } from '../../build/page.mjs';
import { FIXTURE_NAMES } from '../fixtures/fixtures.ts';
import { settled, startHarness, type Harness, type OpenPage } from './page.ts';

let harness: Harness;
let opened: OpenPage;
beforeAll(async () => {
  harness = await startHarness();
  opened = await harness.open();
}, 120_000);
afterAll(() => harness?.close());

const renderer = join(import.meta.dirname, '..');

describe('U9: no text of a mail or message', () => {
  it('in the built page', () => {
    const files = readdirSync(pageFolder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    expect(files.length).toBeGreaterThan(5);
    for (const entry of files) expect(findCanary(readFileSync(join(entry.parentPath, entry.name))), entry.name).toBeNull();
  });

  it.each(FIXTURE_NAMES)('in the document with the fixture %s, also if an engine tells more than it may', async (fixture) => {
    const { page } = opened;
    for (const [view, screen] of [['window', 'live'], ['window', 'activity'], ['panel', undefined]] as const) {
      await harness.go(opened, { view, fixture, ...(screen && { screen }) });
      // Fields that the contract doesn't know, in all that an engine tells.
      await page.evaluate(([body, text]) => {
        window.belfryFixture!.arrive(1, { body, text, preview: body } as object);
        window.belfryFixture!.change({ waiting: [{ kind: 'change', id: 'x', since: 0, sentence: 'A program asks.', client: null, grants: [], body } as never] });
      }, [canary('mail-body'), canary('message-text')] as const);
      await settled(page);
      const row = page.locator('.live-row').first();
      if (screen === 'live' && await row.count() > 0) {
        await row.click();
        await settled(page);
      }
      expect(findCanary(await page.content()), `${view} ${screen}`).toBeNull();
    }
  }, 120_000);
});

describe('the sources of the page', () => {
  const sources = readdirSync(renderer, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile() && /\.(css|tsx?)$/.test(entry.name)).map((entry) => join(entry.parentPath, entry.name));

  it('name colours only in tokens.css', () => {
    const loud = sources.filter((file) => !/tokens\.css$|[\\/]testing[\\/]|\.test\.tsx?$/.test(file) && /#[0-9a-f]{3,8}\b(?!;?&)|\b(?:rgba?|hsla?|oklch|oklab)\(/i.test(readFileSync(file, 'utf8')));
    expect(loud).toEqual([]);
  });

  it('hand no text to the browser as markup', () => {
    expect(sources.filter((file) => !/[\\/]testing[\\/]|\.test\.tsx?$/.test(file) && /dangerouslySetInnerHTML|innerHTML|insertAdjacentHTML|document\.write/.test(readFileSync(file, 'utf8')))).toEqual([]);
  });
});
