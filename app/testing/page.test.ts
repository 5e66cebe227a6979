import { chromium } from 'playwright-core';
import { describe, expect, test } from 'vitest';
import { startPage } from '../engine/page.ts';
import { startWorld } from './world.ts';

const browserPath = process.env['BELFRY_CHROMIUM'];

describe('the page on loopback', () => {
  test('opens by a code that works once, for this computer only', async () => {
    await using world = await startWorld();
    const page = await startPage(world.engine, 0);
    const url = new URL(page.address);
    const get = (path: string, headers: Record<string, string> = {}) => fetch(`${url.origin}${path}`, { headers, redirect: 'manual' });
    expect((await get('/')).status).toBe(403);
    expect((await get('/?code=wrong')).status).toBe(403);
    expect((await get(`/${url.search}`, { origin: 'http://evil.example' })).status).toBe(403);
    const opened = await get(`/${url.search}`);
    expect(opened.status).toBe(303);
    const cookie = opened.headers.get('set-cookie')!;
    expect(cookie).toMatch(/HttpOnly; SameSite=Strict/);
    expect(opened.headers.get('location')).toBe('/');
    expect((await get(`/${url.search}`)).status).toBe(403);
    const shown = await get('/', { cookie: cookie.split(';')[0]! });
    expect(shown.status).toBe(200);
    expect(shown.headers.get('content-security-policy')).toMatch(/default-src 'none'/);
    expect((await fetch(`${url.origin}/`, { method: 'POST' })).status).toBe(405);
    await page.close();
  });

  test.skipIf(browserPath === undefined)('in a real browser: an arrival appears with the reason why it was sent or not, and hostile names stay text', async () => {
    await using world = await startWorld();
    const page = await startPage(world.engine, 0);
    const client = world.client();
    await client.stream('mail.received', { domains: ['example.org'] });
    const browser = await chromium.launch({
      executablePath: browserPath!, headless: true,
      args: ['--no-sandbox', '--disable-gpu', '--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update', '--disable-sync'],
    });
    try {
      const tab = await browser.newPage();
      const faults: string[] = [];
      tab.on('pageerror', (error) => faults.push(error.message));
      tab.on('console', (message) => {
        if (message.type() === 'error') faults.push(message.text());
      });
      await tab.goto(page.address);
      expect(tab.url()).not.toMatch(/code/);
      await tab.getByText(/Watching mail\.received and messages\.received/).waitFor();
      await world.writer.mail.arrive({ from: { address: 'ada@example.org', name: '<img src=x onerror=alert(1)>' }, subject: '</script><b>hi</b>' });
      await tab.getByText(/Sent to/).waitFor();
      expect(await tab.locator('#rows li').first().innerText()).toContain('<img src=x onerror=alert(1)> <ada@example.org>');
      expect(await tab.locator('#rows img, #rows b').count()).toBe(0);
      await world.writer.mail.arrive({ from: { address: 'news@shop.example' } });
      await tab.getByText('Not sent: no allowed sender matches').waitFor();
      expect(faults).toEqual([]);
    } finally {
      await browser.close();
      await page.close();
    }
  });
});
