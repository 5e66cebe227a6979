import { beforeEach, expect, test } from 'vitest';
import type { MessagePortMain } from 'electron';
import { callsOf, reset } from './testing/electron-double.ts';
import { cleanEnvironment, utilityEngine } from './engine-process.ts';

beforeEach(reset);

test('the engine gets no variable that makes a runtime load, log or listen to something', () => {
  const kept = cleanEnvironment({
    HOME: '/Users/ada', PATH: '/usr/bin', LANG: 'en_GB.UTF-8', TMPDIR: '/tmp', NODE_OPTIONS: '--require=/tmp/x.js', NODE_PATH: '/tmp', ELECTRON_RUN_AS_NODE: '1',
    DYLD_INSERT_LIBRARIES: '/tmp/x.dylib', LD_PRELOAD: '/tmp/x.so', NODE_EXTRA_CA_CERTS: '/tmp/x.pem', SSL_CERT_FILE: '/tmp/x.pem', ABSENT: undefined,
  });
  expect(kept).toEqual({ HOME: '/Users/ada', PATH: '/usr/bin', LANG: 'en_GB.UTF-8', TMPDIR: '/tmp' });
});

test('as a utility process it keeps the app\'s disk access and loads only signed libraries', () => {
  utilityEngine('/app/dist/engine.js', { HOME: '/Users/ada', NODE_OPTIONS: '--inspect' }, () => undefined)('engine 1');
  const [path, args, options] = callsOf('utilityProcess.fork')[0]!;
  expect([path, args]).toEqual(['/app/dist/engine.js', []]);
  expect(options).toMatchObject({ disclaim: false, allowLoadingUnsignedLibraries: false, execArgv: [], env: { HOME: '/Users/ada' } });
  expect(JSON.stringify(options)).not.toContain('inspect');
});

test('a page\'s port is handed over, not relayed', () => {
  const engine = utilityEngine('/app/dist/engine.js', {}, () => undefined)('engine 1');
  engine.link({} as MessagePortMain);
  expect(callsOf('child.postMessage')).toEqual([[{ ui: true }, 1]]);
});
