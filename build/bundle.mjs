// Bundles the CLI, the engine and the app's main process into dist/. Native packages stay outside: they are loaded from node_modules.
import { readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { rolldown } from 'rolldown';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Loaded at run time as they are, since each carries a compiled part. The second is the first with encryption. */
export const NATIVE_PACKAGES = ['better-sqlite3', 'better-sqlite3-multiple-ciphers'];

// jsonc-parser's CommonJS form cannot be bundled: its ES modules come first.
const resolve = { mainFields: ['module', 'main'] };
const json = (value) => JSON.stringify(value);
const versionOf = () => JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version;

/**
 * The engine, and with it whatever else runs on plain Node.
 * @param input entry files by the name of what is written
 * @param shipped for the app: without the switches of development, and small
 * @param paths where a native package lies beside the bundle, by its name; then what entries share lies there too, under the name `shared`
 * @returns the native packages that it loads at run time, and the files that it was made of
 */
export async function bundleEngine({ input, dir, shipped = false, team = '', paths = {}, shared = 'chunks/[name]-[hash].js' }) {
  const packages = new Set();
  const bundle = await rolldown({
    input, platform: 'node', resolve,
    external: (id) => {
      if (NATIVE_PACKAGES.includes(id)) packages.add(id);
      return NATIVE_PACKAGES.includes(id);
    },
    transform: { define: { BELFRY_VERSION: json(versionOf()), BELFRY_TEAM: json(team), BELFRY_SHIPPED: json(shipped) } },
  });
  // Chunks are named by their content: old ones would stay for ever.
  rmSync(join(dir, 'chunks'), { recursive: true, force: true });
  const { output } = await bundle.write({
    dir, format: 'esm', sourcemap: false, minify: shipped, comments: { legal: false }, paths, entryFileNames: '[name].js', chunkFileNames: shared,
  });
  await bundle.close();
  return { packages: [...packages], modules: output.flatMap(({ moduleIds }) => moduleIds ?? []) };
}

/**
 * The app's main process, and its preload script: one CommonJS file, since pages are sandboxed.
 * @param feed address of the update feed; '' where there is none
 * @returns the files that it was made of
 */
export async function bundleShell({ dir, shipped = false, team = '', feed = '' }) {
  const parts = [
    { input: join(root, 'main/main.ts'), output: { file: join(dir, 'main.js'), format: 'esm' } },
    { input: join(root, 'main/preload.ts'), output: { file: join(dir, 'preload.cjs'), format: 'cjs' } },
  ];
  const modules = [];
  for (const { input, output } of parts) {
    const part = await rolldown({
      input, platform: 'node', external: ['electron'], resolve,
      transform: { target: 'node20', define: { BELFRY_TEAM: json(team), BELFRY_FEED: json(feed), BELFRY_SHIPPED: json(shipped) } },
    });
    const { output: written } = await part.write({ ...output, sourcemap: false, codeSplitting: false, minify: shipped, comments: { legal: false } });
    await part.close();
    modules.push(...written.flatMap(({ moduleIds }) => moduleIds ?? []));
  }
  return modules;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const team = process.env.BELFRY_TEAM ?? '';
  await bundleEngine({ input: { belfry: join(root, 'app/cli/belfry.ts'), engine: join(root, 'app/engine/process.ts'), 'search-worker': join(root, 'app/search/worker.ts') }, dir: join(root, 'dist'), team });
  await bundleShell({ dir: join(root, 'dist', 'main'), team });
}
