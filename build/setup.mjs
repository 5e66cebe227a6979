// Sets up what a command needs on a fresh clone and then runs it. Plain Node 20 or newer, no dependencies:
// it runs before there are any.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { chmodSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const cache = join(root, '.cache');
const bin = join(root, 'node_modules', '.bin');
const say = (line) => process.stderr.write(`setup: ${line}\n`);

/** Node 24: the `node` dev dependency, or a system Node that is new enough. */
function findNode() {
  const candidates = [join(root, 'node_modules', 'node', 'bin', 'node'), join(bin, 'node'), process.execPath];
  for (const path of candidates) {
    const { stdout } = spawnSync(path, ['--version'], { encoding: 'utf8' });
    if (Number(/^v(\d+)\./.exec(stdout ?? '')?.[1]) >= 24) return path;
  }
  throw new Error('Node 24 is needed and was not found: run "npm ci" and look for a refused install script of the package "node".');
}

function run(command, args, options = {}) {
  const done = spawnSync(command, args, { cwd: root, stdio: 'inherit', ...options });
  if (done.error) throw done.error;
  return done.status ?? 1;
}

/** node_modules as the lockfile says; again only if the lockfile changed. */
function install() {
  const modules = join(root, 'node_modules');
  const stamp = join(modules, '.belfry-lock');
  const wanted = hashOf([join(root, 'package-lock.json'), join(root, 'package.json')]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  if (lstatSync(modules, { throwIfNoEntry: false })?.isSymbolicLink()) {
    // "npm ci" would empty the folder that it points to, which belongs to another checkout.
    say('node_modules is a link and does not fit this lockfile: using it as it is');
    return;
  }
  say('installing the packages of the lockfile (a minute on a fresh clone)');
  const npm = process.env.npm_execpath;
  const quiet = ['ci', '--no-audit', '--no-fund', '--loglevel=error'];
  // npm's own words go to stderr: stdout belongs to the command that asked for the set-up.
  const stdio = ['ignore', 2, 2];
  const status = npm ? run(process.execPath, [npm, ...quiet], { stdio }) : run('npm', quiet, { stdio });
  if (status !== 0) throw new Error('"npm ci" failed; its own message stands above.');
  writeFileSync(stamp, wanted);
}

function hashOf(files) {
  const hash = createHash('sha256');
  for (const file of files) hash.update(file.slice(root.length)).update(readFileSync(file));
  return hash.digest('hex');
}

function filesBelow(folder, keep) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => keep(path) && statSync(path).isFile())
    .sort();
}

/** `dist/`: the bundles, the page and the native parts; again only if a source changed. */
async function build() {
  const sources = [
    ...filesBelow(join(root, 'app'), (path) => /\.(ts|html|css)$/.test(path) && !path.endsWith('.test.ts')),
    ...filesBelow(join(root, 'main'), (path) => path.endsWith('.ts') && !path.endsWith('.test.ts') && !path.includes(join('main', 'testing'))),
    ...filesBelow(join(root, 'renderer'), (path) => /\.(tsx?|html|css)$/.test(path) && !/\.test\.tsx?$/.test(path) && !path.includes(join('renderer', 'testing'))),
    ...filesBelow(join(root, 'build'), (path) => path.endsWith('.mjs')),
    join(root, 'package-lock.json'),
  ];
  const stamp = join(root, 'dist', '.built');
  const wanted = hashOf(sources);
  const { buildNative } = await import('./native.mjs');
  await buildNative({ root, log: say });
  const made = ['belfry.js', join('main', 'main.js'), join('page', 'index.html')].every((name) => existsSync(join(root, 'dist', name)));
  if (existsSync(stamp) && made && readFileSync(stamp, 'utf8') === wanted) return;
  say('building dist/');
  for (const part of ['bundle.mjs', 'page.mjs']) execFileSync(findNode(), [join(root, 'build', part)], { cwd: root, stdio: ['ignore', 2, 2] });
  writeFileSync(stamp, wanted);
}

/** The app: on a Mac with the Electron of the lockfile, whose binary is fetched once; elsewhere with the smoke test's. */
async function startApp(node, args, env) {
  if (process.platform === 'darwin') {
    const electron = join(root, 'node_modules', 'electron');
    if (!existsSync(join(electron, 'path.txt'))) {
      say('fetching the Electron binary (once)');
      const status = run(node, [join(electron, 'install.js')], { env });
      if (status !== 0) throw new Error('the Electron binary could not be fetched; its own message stands above.');
    }
    return run(join(electron, 'dist', readFileSync(join(electron, 'path.txt'), 'utf8').trim()), [root, ...args], { env });
  }
  // Before some hundreds of megabytes are fetched for nothing.
  if (!process.env.DISPLAY) throw new Error('the app needs a screen: set DISPLAY, or start it under xvfb-run.');
  const { smokeRuntime, smokeCommand } = await import('./smoke-runtime.mjs');
  const runtime = await smokeRuntime(say);
  if ('skipped' in runtime) throw new Error(`the app can't be started here: ${runtime.skipped}.`);
  const folder = mkdtempSync(join(tmpdir(), 'belfry-start-'));
  chmodSync(folder, 0o755);
  try {
    const { command, node: engineNode, home } = smokeCommand(runtime, folder);
    return run(command, args, { env: { ...env, ...home, BELFRY_ENGINE_NODE: engineNode } });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function main() {
  const [command = 'build', ...args] = process.argv.slice(2);
  mkdirSync(cache, { recursive: true });
  install();
  const node = findNode();
  const env = { ...process.env, PATH: `${dirname(node)}:${bin}:${process.env.PATH}` };
  await build();
  switch (command) {
    case 'build':
      return 0;
    case 'demo':
      return run(node, [join(root, 'app', 'testing', 'demo', 'demo.ts'), ...args], { env });
    case 'bench':
      return run(node, ['--expose-gc', join(root, 'app', 'bench', 'bench.ts'), ...args], { env });
    case 'start':
      return startApp(node, args, env);
    case 'screenshots':
      return run(node, [join(root, 'build', 'screenshots.mjs'), ...args], { env });
    case 'dist':
      return run(node, [join(root, 'build', 'dist.mjs'), ...args], { env });
    case 'test-app': {
      const made = run(node, [join(root, 'build', 'dist.mjs'), '--for-tests'], { env });
      return made === 0 ? run(node, [join(root, 'main', 'testing', 'built-app.ts')], { env }) : made;
    }
    case 'test':
      return run(node, [join(root, 'build', 'test.mjs'), ...args], { env });
    default:
      say(`"${command}" is none of the project's commands.`);
      return 3;
  }
}

main().then(
  (code) => process.exit(code),
  (error) => {
    say(error.message);
    process.exit(1);
  },
);
