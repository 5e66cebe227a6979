// Sets up what a command needs on a fresh clone and then runs it. Plain Node 20 or newer, no dependencies:
// it runs before there are any.
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
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
  const stamp = join(root, 'node_modules', '.belfry-lock');
  const wanted = hashOf([join(root, 'package-lock.json'), join(root, 'package.json')]);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
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
  for (const file of files) hash.update(file).update(readFileSync(file));
  return hash.digest('hex');
}

function filesBelow(folder, keep) {
  return readdirSync(folder, { recursive: true })
    .map((name) => join(folder, String(name)))
    .filter((path) => keep(path) && statSync(path).isFile())
    .sort();
}

/** `dist/`: the CLI bundle and the native parts; again only if a source changed. */
async function build() {
  const sources = [
    ...filesBelow(join(root, 'app'), (path) => /\.(ts|html|css)$/.test(path) && !path.endsWith('.test.ts')),
    ...filesBelow(join(root, 'build'), (path) => path.endsWith('.mjs')),
    join(root, 'package-lock.json'),
  ];
  const stamp = join(root, 'dist', '.built');
  const wanted = hashOf(sources);
  const { buildNative } = await import('./native.mjs');
  await buildNative({ root, log: say });
  if (existsSync(stamp) && existsSync(join(root, 'dist', 'belfry.js')) && readFileSync(stamp, 'utf8') === wanted) return;
  say('building dist/');
  execFileSync(findNode(), [join(root, 'build', 'bundle.mjs')], { cwd: root, stdio: ['ignore', 2, 2] });
  writeFileSync(stamp, wanted);
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
    case 'test':
      return run(node, [join(root, 'build', 'test.mjs'), ...args], { env });
    default:
      say(`"npm run ${command}" comes with the menu-bar app, which is not part of this version.`);
      return 2;
  }
}

main().then(
  (code) => process.exit(code),
  (error) => {
    say(error.message);
    process.exit(1);
  },
);
