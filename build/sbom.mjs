// The bill of materials of what ships, in CycloneDX. Run by hand it prints it.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { shippedPackages } from './notice.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/**
 * npm lists everything that is installed; its own `--omit=dev` also leaves out what both a shipped and a development package
 * use, so what ships is chosen here. Electron is a development package to npm, and the greatest part of what ships.
 */
export function billOfMaterials() {
  const { status, stdout, stderr } = spawnSync('npm', ['sbom', '--sbom-format=cyclonedx', '--package-lock-only'], { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  if (status !== 0) throw new Error(`The bill of materials could not be made: ${stderr.trim()}`);
  const bill = JSON.parse(stdout);
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const shipped = new Set(shippedPackages(lock).map(({ name, version }) => `${name}@${version}`));
  shipped.add(`electron@${lock.packages['node_modules/electron'].version}`);
  const components = bill.components.filter(({ name, version }) => shipped.has(`${name}@${version}`)).map((each) => ({ ...each, scope: 'required' }));
  const kept = new Set([...components, bill.metadata.component].map((each) => each['bom-ref']));
  bill.metadata.component = { ...bill.metadata.component, name: 'belfry', type: 'application' };
  return {
    ...bill, components,
    dependencies: bill.dependencies.filter(({ ref }) => kept.has(ref)).map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((each) => kept.has(each)) })),
  };
}

if (process.argv[1] === fileURLToPath(import.meta.url)) process.stdout.write(`${JSON.stringify(billOfMaterials(), null, 2)}\n`);
