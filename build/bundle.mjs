// Bundles the CLI and the engine into dist/. Native packages stay outside: they are loaded from node_modules.
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

const bundle = await rolldown({
  input: { belfry: join(root, 'app/cli/belfry.ts'), engine: join(root, 'app/engine/process.ts'), 'search-worker': join(root, 'app/search/index-worker.ts') },
  platform: 'node',
  external: ['better-sqlite3', 'better-sqlite3-multiple-ciphers'],
  transform: { define: { BELFRY_VERSION: JSON.stringify(version) } },
});
// Chunks are named by their content: old ones would stay for ever.
rmSync(join(root, 'dist', 'chunks'), { recursive: true, force: true });
await bundle.write({ dir: join(root, 'dist'), format: 'esm', sourcemap: false, entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' });
await bundle.close();
