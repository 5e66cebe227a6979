// Builds the page (renderer/) into dist/page/: no source maps, no inline script or style, addresses relative to the page so that
// they hold under app:// and under the loopback server alike. Again only if a source changed.
import { createHash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { gzipSync } from 'node:zlib';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
export const pageFolder = join(root, 'dist', 'page');
const stamp = join(root, 'dist', '.page-built');

function sourceHash() {
  const hash = createHash('sha256');
  const folders = [join(root, 'renderer'), join(root, 'app', 'contract')];
  const files = folders.flatMap((folder) => readdirSync(folder, { recursive: true }).map((name) => join(folder, name)));
  const sources = files.filter((file) => /\.(tsx?|css|html)$/.test(file) && !/\.test\.tsx?$/.test(file) && !file.includes(`${sep}testing${sep}`) && statSync(file).isFile());
  for (const file of [...sources.sort(), fileURLToPath(import.meta.url), join(root, 'package-lock.json'), join(root, 'resources', 'icon.svg')]) hash.update(file.slice(root.length)).update(readFileSync(file));
  return hash.digest('hex');
}

export function pageIsFresh() {
  return existsSync(stamp) && existsSync(join(pageFolder, 'index.html')) && readFileSync(stamp, 'utf8') === sourceHash();
}

/**
 * @param folder where to; @param shipped for the app: neither fixtures nor the page server's bridge
 * @returns what was built: the chunks with their gzip sizes in bytes
 */
export async function buildPage({ folder = pageFolder, shipped = false } = {}) {
  // Whatever calls this: with another value React's development build would ship, and the paths of its sources with it.
  process.env.NODE_ENV = 'production';
  const { build } = await import('vite');
  const { default: react } = await import('@vitejs/plugin-react');
  const wanted = sourceHash();
  // Built beside and then put in place, so that nobody reads half a page.
  const fresh = `${folder}.${process.pid}.new`;
  const result = await build({
    configFile: false,
    root: join(root, 'renderer'),
    base: './',
    logLevel: 'warn',
    mode: 'production',
    plugins: [react()],
    define: { BELFRY_SHIPPED: JSON.stringify(shipped) },
    build: {
      outDir: fresh,
      emptyOutDir: true,
      sourcemap: false,
      target: 'chrome130',
      assetsDir: 'assets',
      // Assets stay files: the content security policy allows no data: addresses.
      assetsInlineLimit: 0,
      modulePreload: { polyfill: false },
      license: false,
      rolldownOptions: {
        output: {
          codeSplitting: {
            groups: [
              // no-eval.ts stands with zod: it has to run before the schemas are made, which are in the next group.
              { name: 'packages', test: /node_modules|renderer[\\/]no-eval/, priority: 2 },
              { name: 'common', test: /renderer[\\/](?:parts|stores)[\\/]|app[\\/]contract[\\/](?!skill)/, priority: 1 },
            ],
          },
        },
      },
    },
  });
  const old = `${folder}.${process.pid}.old`;
  if (existsSync(folder)) renameSync(folder, old);
  renameSync(fresh, folder);
  rmSync(old, { recursive: true, force: true });
  if (folder === pageFolder) writeFileSync(stamp, wanted);
  const { output } = Array.isArray(result) ? result[0] : result;
  return output
    .filter((file) => file.type === 'chunk')
    .map((chunk) => ({ file: chunk.fileName, name: chunk.name, imports: chunk.imports, entry: chunk.isEntry, gzip: gzipSync(chunk.code, { level: 9 }).length }));
}

/** The gzip bytes of the JavaScript that a page with this view needs before anything else is loaded on demand. */
export function initialBytes(chunks, view) {
  const needed = new Set();
  const add = (chunk) => {
    if (!chunk || needed.has(chunk)) return;
    needed.add(chunk);
    for (const file of chunk.imports) add(chunks.find((each) => each.file === file));
  };
  for (const chunk of chunks) if (chunk.entry || chunk.name === view || chunk.name === 'preload-bridge') add(chunk);
  return [...needed].reduce((sum, { gzip }) => sum + gzip, 0);
}

if (process.argv[1] && import.meta.url === pathToFileURL(process.argv[1]).href) {
  if (process.argv.includes('--sizes')) {
    const chunks = await buildPage();
    for (const { file, gzip } of chunks) process.stdout.write(`${String(gzip).padStart(8)}  ${file}\n`);
    for (const view of ['window', 'panel', 'onboarding']) process.stdout.write(`${String(initialBytes(chunks, view)).padStart(8)}  ${view}: JavaScript at its start, gzip\n`);
  } else if (!pageIsFresh()) await buildPage();
}
