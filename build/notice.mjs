// The licences of what ships, from the lockfile and the packages that it names. Run by hand it prints them.
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * Everything that the dependencies of package.json reach, each once, by name; what is bundled and what lies beside the bundle
 * alike. Electron's and Chromium's own licences lie in the app as their makers put them there.
 * @param lock the parsed lockfile
 * @returns {{name: string, version: string, license: string, path: string}[]}
 */
export function shippedPackages(lock) {
  const found = new Map();
  const place = (name, from) => {
    // As Node looks: in the package's own folder, then in each above it.
    for (let base = from; ; base = base.slice(0, Math.max(0, base.lastIndexOf('node_modules/') - 1))) {
      const path = `${base === '' ? '' : `${base}/`}node_modules/${name}`;
      if (lock.packages[path]) return path;
      if (base === '') return null;
    }
  };
  const add = (name, from, optional) => {
    const path = place(name, from);
    if (path === null) {
      if (optional) return;
      throw new Error(`The lockfile does not say where "${name}" is.`);
    }
    if (found.has(path)) return;
    const { version, license, dependencies = {}, optionalDependencies = {} } = lock.packages[path];
    if (!license) throw new Error(`The lockfile names no licence for "${name}".`);
    found.set(path, { name, version, license, path });
    for (const each of Object.keys(dependencies)) add(each, path, Object.hasOwn(optionalDependencies, each));
  };
  for (const name of Object.keys(lock.packages[''].dependencies ?? {})) add(name, '', false);
  const byName = (a, b) => (a.name < b.name ? -1 : a.name > b.name ? 1 : a.version < b.version ? -1 : 1);
  return [...found.values()].sort(byName);
}

const LICENCE_FILE = /^(?:licen[cs]e|copying|notice)(?:[.-].*)?$/i;

/** @throws Error where a package that ships is not installed */
export function noticeText() {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const rule = '-'.repeat(78);
  const own = readFileSync(join(root, 'LICENSE'), 'utf8').trim();
  const electron = lock.packages['node_modules/electron'];
  const parts = [...shippedPackages(lock), { name: 'electron', version: electron.version, license: electron.license, path: 'node_modules/electron' }].map(({ name, version, license, path }) => {
    const folder = join(root, path);
    if (!existsSync(folder)) throw new Error(`"${name}" ships and is not installed.`);
    const texts = readdirSync(folder).filter((file) => LICENCE_FILE.test(file)).sort().map((file) => readFileSync(join(folder, file), 'utf8').replaceAll('\r\n', '\n').trim());
    const more = join(root, 'build', 'notices', `${name.replaceAll('/', '__')}.txt`);
    // What a package holds compiled and says in its sources alone.
    if (existsSync(more)) texts.push(readFileSync(more, 'utf8').trim());
    return [rule, `${name} ${version} (${license})`, '', ...(texts.length > 0 ? texts : [`Licence as its package.json says: ${license}.`])].join('\n');
  });
  return ['Belfry', '', own, '', 'Belfry holds parts of the following packages. Electron in turn holds Chromium and Node.js, whose', "licences lie beside each of Electron's own releases as LICENSES.chromium.html.", '', ...parts, ''].join('\n');
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(noticeText());
