import { expect, test } from 'vitest';
import { faultsOf, MAIL, ring } from './conformance-kit.ts';
import { startWebhookWorld, verified } from './webhook-kit.ts';

test('a client with a credential subscribes: its receiver is asked, then gets the mail, signed', async () => {
  await using it = await startWebhookWorld();
  const grant = await it.granted();
  expect(grant['id']).toMatch(/^sub_[0-9a-f]{32}$/);
  const [challenge] = it.receiver.envelopes('verification');
  expect(verified(challenge!)).toMatchObject({ type: 'verification' });
  await ring(it.world, 'Rota');
  const [delivery] = await it.receiver.until(({ body }) => body['type'] === undefined);
  expect(verified(delivery!)).toMatchObject({ name: MAIL, data: { subject: 'Rota' } });
  expect(delivery).toMatchObject({ method: 'POST', path: '/a', headers: { 'content-type': 'application/json', 'x-mcp-subscription-id': grant['id'] } });
  expect(faultsOf('occurrence', delivery!.body)).toEqual([]);
});
