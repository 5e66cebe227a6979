import { expect, test } from 'vitest';
import { developmentLaunch, shippedLaunch } from './launch.ts';
import { productName } from './signature.ts';

const flags = ['/app/Belfry', '--background', '--data-dir=/tmp/d', '--mail-dir=/tmp/m', '--messages-db=/tmp/c.db', '--trust-local-clients'];

test('what ships takes nothing but --background: no folder, no store, no engine of somebody else\'s', () => {
  expect(shippedLaunch(flags, { appData: '/Users/ada/Library/Application Support', product: 'Belfry' })).toEqual({
    background: true, dataDir: '/Users/ada/Library/Application Support/Belfry', engineNode: null, stores: {},
  });
});

test('a development build takes them, and has a data folder of its own', () => {
  const facts = { appData: '/a', product: 'Belfry Development' };
  expect(developmentLaunch(flags, { BELFRY_ENGINE_NODE: '/tmp/node' }, facts)).toEqual({
    background: true, dataDir: '/tmp/d', engineNode: '/tmp/node', stores: { mailDir: '/tmp/m', messagesDb: '/tmp/c.db', trustLocalClients: true },
  });
  expect(developmentLaunch(['/app/Belfry'], {}, facts)).toEqual({ background: false, dataDir: '/a/Belfry Development', engineNode: null, stores: {} });
});

test('a build without a team has a name of its own, which is also its folder\'s', () => {
  expect(productName).toBe('Belfry Development');
});
