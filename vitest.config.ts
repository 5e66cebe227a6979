import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';

// Real processes, sockets and SQLite files: one fork per file, no shared state between files.
export default defineConfig({
  // The package needs its binary to be loaded; only main/ imports it.
  resolve: { alias: { electron: fileURLToPath(new URL('main/testing/electron-double.ts', import.meta.url)) } },
  test: {
    include: ['app/**/*.test.ts', 'main/**/*.test.ts', 'renderer/**/*.test.ts', 'build/**/*.test.ts'],
    pool: 'forks',
    maxWorkers: 2,
    // Upper bounds for a machine whose cores are all taken; a test that passes never waits them out.
    testTimeout: 120_000,
    hookTimeout: 300_000,
    expect: { poll: { timeout: 30_000 } },
  },
});
