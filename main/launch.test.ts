import { expect, test } from 'vitest';
import { launchOf } from './launch.ts';

const flags = ['/app/Belfry', '--background', '--data-dir=/tmp/d', '--mail-dir=/tmp/m', '--messages-db=/tmp/c.db', '--trust-local-clients'];

test('the packaged app takes nothing but --background: no folder, no store, no engine of somebody else\'s', () => {
  expect(launchOf(flags, { BELFRY_ENGINE_NODE: '/tmp/node' }, { packaged: true, appData: '/Users/ada/Library/Application Support' })).toEqual({
    background: true, dataDir: '/Users/ada/Library/Application Support/Belfry', engineNode: null, stores: {},
  });
});

test('a development build takes them, and has a data folder of its own', () => {
  expect(launchOf(flags, { BELFRY_ENGINE_NODE: '/tmp/node' }, { packaged: false, appData: '/a' })).toEqual({
    background: true, dataDir: '/tmp/d', engineNode: '/tmp/node', stores: { mailDir: '/tmp/m', messagesDb: '/tmp/c.db', trustLocalClients: true },
  });
  expect(launchOf(['/app/Belfry'], {}, { packaged: false, appData: '/a' })).toEqual({ background: false, dataDir: '/a/Belfry Development', engineNode: null, stores: {} });
});
