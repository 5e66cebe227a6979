// Bundles the CLI, the engine and the app's main process into dist/. Native packages stay outside: they are loaded from node_modules.
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));

// jsonc-parser's CommonJS form cannot be bundled: its ES modules come first.
const resolve = { mainFields: ['module', 'main'] };

const bundle = await rolldown({
  input: { belfry: join(root, 'app/cli/belfry.ts'), engine: join(root, 'app/engine/process.ts'), 'search-worker': join(root, 'app/search/index-worker.ts') },
  platform: 'node',
  external: ['better-sqlite3', 'better-sqlite3-multiple-ciphers'],
  resolve,
  transform: { define: { BELFRY_VERSION: JSON.stringify(version) } },
});
// Chunks are named by their content: old ones would stay for ever.
rmSync(join(root, 'dist', 'chunks'), { recursive: true, force: true });
await bundle.write({ dir: join(root, 'dist'), format: 'esm', sourcemap: false, entryFileNames: '[name].js', chunkFileNames: 'chunks/[name]-[hash].js' });
await bundle.close();

// The app's main process, and its preload script: one CommonJS file, since pages are sandboxed.
const appParts = [
  { input: join(root, 'main/main.ts'), output: { file: join(root, 'dist/main/main.js'), format: 'esm' } },
  { input: join(root, 'main/preload.ts'), output: { file: join(root, 'dist/main/preload.cjs'), format: 'cjs' } },
];
for (const { input, output } of appParts) {
  const part = await rolldown({
    input, platform: 'node', external: ['electron'], resolve, transform: { target: 'node20', define: { BELFRY_TEAM: JSON.stringify(process.env.BELFRY_TEAM ?? '') } },
  });
  await part.write({ ...output, sourcemap: false, codeSplitting: false });
  await part.close();
}
