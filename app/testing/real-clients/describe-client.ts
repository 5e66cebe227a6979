import { describe } from 'vitest';
import { publishedClient, type ClientId } from './client-cache.ts';

/** Above the bound that ends a client that hangs, in ms. */
const TIMEOUT = 200_000;

/** Tests with a published client; skipped, with the reason in the name, where it cannot be had. @param tests gets its command line. */
export async function describeClient(id: ClientId, tests: (command: readonly string[]) => void): Promise<void> {
  const client = await publishedClient(id);
  if (client.missing === null) describe(client.title, { timeout: TIMEOUT }, () => tests(client.command));
  else describe.skip(`${client.title}, not tested: ${client.missing}`, () => tests([]));
}
