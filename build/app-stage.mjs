// Lays out in dist/app what the packaged app holds, and nothing else: bundles without the switches of development, the page
// without fixtures, the native parts, the pictures. What is here ships; what is not here cannot.
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundleEngine, bundleShell, NATIVE_PACKAGES } from './bundle.mjs';
import { noticeText } from './notice.mjs';
import { buildPage } from './page.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
/** Where the one package that is loaded as it is lies beside the bundle. */
const SQLITE = 'native/sqlite';

/** Tests, demo and measurements; the headless engine with its page server. */
export const NEVER_SHIPPED = /\/app\/(?:testing|bench)\/|\/main\/testing\/|\.test\.|\/app\/cli\/(?:belfry|serve)\b|\/app\/engine\/(?:page|browser-shell)\b|\/build\//;

/**
 * @param folder emptied first
 * @param addon the peer addon for macOS
 * @param shipped false only for a build made to be tested
 * @param team of the signature; '' for a development build
 * @param feed address of the update feed, or ''
 */
export async function stageApp({ folder, addon, shipped = true, team, feed, product }) {
  rmSync(folder, { recursive: true, force: true });
  const built = join(folder, 'dist');
  mkdirSync(join(built, 'bin'), { recursive: true });
  const input = { engine: join(root, 'app/engine/process.ts'), 'search-worker': join(root, 'app/search/worker.ts') };
  const paths = Object.fromEntries(NATIVE_PACKAGES.map((name) => [name, `./${SQLITE}/lib/index.js`]));
  const { modules, packages } = await bundleEngine({ input, dir: built, shipped, team, paths, shared: 'shared.js' });
  // One SQLite ships: where the engine uses both, the one with encryption, which is the other and more.
  stageNative(NATIVE_PACKAGES.findLast((name) => packages.includes(name)), join(built, SQLITE));
  modules.push(...await bundleShell({ dir: join(built, 'main'), shipped, team, feed }));
  const unwanted = modules.filter((path) => NEVER_SHIPPED.test(path));
  if (unwanted.length > 0) throw new Error(`What is for development only would ship: ${unwanted.map((path) => path.slice(root.length + 1)).join(', ')}.`);
  await buildPage({ folder: join(built, 'page'), shipped });
  cpSync(addon, join(built, 'bin', 'peer-identity.node'));
  const pictures = join(root, 'resources');
  mkdirSync(join(folder, 'resources', 'tray'), { recursive: true });
  cpSync(join(pictures, 'icon.png'), join(folder, 'resources', 'icon.png'));
  for (const name of readdirSync(join(pictures, 'tray')).filter((each) => each.endsWith('.png'))) cpSync(join(pictures, 'tray', name), join(folder, 'resources', 'tray', name));
  const { version, description, license } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  writeFileSync(join(folder, 'package.json'), `${JSON.stringify({ name: 'belfry', productName: product, version, description, license, author: 'Belfry', type: 'module', main: 'dist/main/main.js' }, null, 2)}\n`);
  return noticeText();
}

/** Its JavaScript and its compiled files for macOS: not its sources, and nobody else's platform. */
function stageNative(name, to) {
  const from = join(root, 'node_modules', name);
  const { version, license, main } = JSON.parse(readFileSync(join(from, 'package.json'), 'utf8'));
  mkdirSync(join(to, 'prebuilds'), { recursive: true });
  writeFileSync(join(to, 'package.json'), `${JSON.stringify({ name, version, license, main }, null, 2)}\n`);
  cpSync(join(from, 'lib'), join(to, 'lib'), { recursive: true, filter: (path) => !/(?:linux|linuxmusl|win32)-[a-z0-9]+\.js$/.test(path) });
  for (const arch of ['arm64', 'x64']) {
    const file = join(from, 'prebuilds', `darwin-${arch}.node`);
    if (!existsSync(file)) throw new Error(`${name} carries no compiled file for macOS ${arch}.`);
    cpSync(file, join(to, 'prebuilds', `darwin-${arch}.node`));
  }
}
