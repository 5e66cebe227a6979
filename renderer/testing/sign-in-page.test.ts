import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, test } from 'vitest';
import { axeViolations } from './axe.ts';
import { browserPath, openTab } from '../../app/testing/browser.ts';
import { SignInWorld, type Program } from '../../app/testing/sign-in-kit.ts';

/** Where a program waits for its answer. */
async function callback(): Promise<AsyncDisposable & { readonly address: string; readonly heard: URL[] }> {
  const heard: URL[] = [];
  const server = createServer((request, response) => {
    heard.push(new URL(request.url ?? '', 'http://program'));
    response.writeHead(200, { 'content-type': 'text/html' }).end('<!doctype html><title>Back</title>');
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const close = async () => {
    server.closeAllConnections();
    await new Promise((resolve) => server.close(resolve));
  };
  return { address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/callback`, heard, [Symbol.asyncDispose]: close };
}
const addressOf = (world: SignInWorld, program: Program) => `${world.origin}/oauth/authorize?${new URLSearchParams(program.query).toString()}`;

test.skipIf(!browserPath)('in a browser: the code is there, in both themes and for everyone, and the page goes on by itself once it is allowed', async () => {
  await using world = await SignInWorld.start();
  await using program = await callback();
  const registered = await world.program(program.address, 'עוזר \u202eagent <b>');
  await using opened = await openTab(addressOf(world, registered), { width: 320, height: 640 });
  const { tab, faults } = opened;
  expect(await tab.locator('.code').textContent()).toBe(world.asked[0]!.code);
  expect(await tab.locator('h1').textContent()).toBe('“עוזר agent <b>” asks to sign in to Belfry');
  for (const colorScheme of ['light', 'dark'] as const) {
    await tab.emulateMedia({ colorScheme });
    expect(await axeViolations(tab)).toEqual([]);
    expect(await tab.evaluate(() => getComputedStyle(document.body).backgroundColor)).toBe(colorScheme === 'dark' ? 'rgb(28, 28, 30)' : 'rgb(245, 245, 247)');
  }
  expect(await tab.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(320);
  expect(program.heard).toEqual([]);
  world.answer(true);
  await tab.waitForURL(/\/callback\?/);
  expect(program.heard[0]!.searchParams.get('state')).toBe(registered.state);
  expect(program.heard[0]!.searchParams.get('code')).toMatch(/^belfry_code_/);
  expect(faults.filter((fault) => !fault.includes('favicon'))).toEqual([]);
});

test.skipIf(!browserPath)('in a browser: a refusal is read first, and then the program is told', async () => {
  await using world = await SignInWorld.start();
  await using program = await callback();
  await using opened = await openTab(addressOf(world, await world.program(program.address)));
  const { tab } = opened;
  world.answer(false);
  await tab.getByRole('heading', { name: 'Not allowed' }).waitFor();
  expect(await axeViolations(tab)).toEqual([]);
  await tab.waitForURL(/\/callback\?/);
  expect(program.heard[0]!.searchParams.get('error')).toBe('access_denied');
});

test.skipIf(!browserPath)('in a browser: a page that is framed shows nothing, and asks for nothing', async () => {
  await using world = await SignInWorld.start();
  await using program = await callback();
  const address = addressOf(world, await world.program(program.address));
  await using opened = await openTab(program.address);
  const { tab } = opened;
  await tab.setContent(`<iframe src="${address.replaceAll('&', '&amp;')}"></iframe><img src="${address.replaceAll('&', '&amp;')}" alt="">`);
  await tab.waitForLoadState('networkidle');
  expect(world.policy.snapshot().waiting).toEqual([]);
  expect(tab.frames().map((frame) => frame.url()).filter((url) => url.includes('/oauth/'))).toEqual([]);
});
