// A stand-in for Electron.app: the folders, property lists and fuse wire that the packager works on, without a program in it.
// With it the packaging runs on Linux, and what is asserted of the result holds for everything but Electron itself.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const HELPERS = [' Helper', ' Helper (GPU)', ' Helper (Plugin)', ' Helper (Renderer)'];
const CPU = { arm64: 0x0100000c, x64: 0x01000007 };
/** By which the fuse tools find the wire in Electron's binary; then version 1, the number of fuses, and one digit each. */
const SENTINEL = 'dL7pKGdnNz796PbbjQWNKmHXBZaB9tsX';
/** As Electron 45 comes: RunAsNode, options and inspection on, as people must turn them off. */
const FACTORY_FUSES = '101100011';

/** The head of a Mach-O file of one architecture, with no commands. */
export function machStub(arch, type = 2) {
  const head = Buffer.alloc(32);
  [0xfeedfacf, CPU[arch], 0, type, 0, 0, 0, 0].forEach((word, at) => head.writeUInt32LE(word, at * 4));
  return head;
}

/** Two stubs in one file, where there are no tools for real ones. */
export function fatStub(type = 2) {
  const slices = Object.keys(CPU).map((arch) => machStub(arch, type));
  const start = 4096;
  const file = Buffer.alloc(start * slices.length + slices[0].length);
  [0xcafebabe, slices.length].forEach((word, at) => file.writeUInt32BE(word, at * 4));
  Object.values(CPU).forEach((cpu, at) => {
    const offset = start * (at + 1);
    [cpu, 0, offset, slices[at].length, 12].forEach((word, field) => file.writeUInt32BE(word >>> 0, 8 + at * 20 + field * 4));
    slices[at].copy(file, offset);
  });
  return file;
}

const plist = (values) => `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0">
<dict>
${Object.entries(values).map(([key, value]) => `\t<key>${key}</key>\n\t<string>${value}</string>`).join('\n')}
</dict>
</plist>
`;

/** @param folder emptied first; gets `Electron.app` @param arch `arm64` or `x64` @param version of Electron */
export function makeStandIn({ folder, arch, version }) {
  rmSync(folder, { recursive: true, force: true });
  const contents = join(folder, 'Electron.app', 'Contents');
  const write = (path, data, mode = 0o644) => {
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, data, { mode });
  };
  const info = (name, id, type = 'APPL') => plist({
    CFBundleExecutable: name, CFBundleIdentifier: id, CFBundleName: name, CFBundlePackageType: type, CFBundleVersion: version, CFBundleShortVersionString: version, ...(name === 'Electron' && { CFBundleIconFile: 'electron.icns' }),
  });
  write(join(contents, 'Info.plist'), info('Electron', 'com.github.Electron'));
  write(join(contents, 'PkgInfo'), 'APPL????');
  write(join(contents, 'MacOS', 'Electron'), machStub(arch), 0o755);
  write(join(contents, 'Resources', 'electron.icns'), 'icns');
  for (const language of ['en', 'de']) write(join(contents, 'Resources', `${language}.lproj`, 'locale.pak'), '');
  const frameworks = join(contents, 'Frameworks');
  const name = 'Electron Framework';
  const framework = join(frameworks, `${name}.framework`);
  const current = join(framework, 'Versions', 'A');
  const wire = Buffer.concat([Buffer.from(SENTINEL, 'latin1'), Buffer.from([1, FACTORY_FUSES.length]), Buffer.from(FACTORY_FUSES, 'latin1')]);
  write(join(current, name), Buffer.concat([machStub(arch, 6), Buffer.alloc(64), wire, Buffer.alloc(64)]), 0o755);
  for (const language of ['en', 'de']) write(join(current, 'Resources', `${language}.lproj`, 'locale.pak'), '');
  write(join(current, 'Resources', 'Info.plist'), info(name, 'com.github.Electron.framework', 'FMWK'));
  symlinkSync('A', join(framework, 'Versions', 'Current'));
  for (const each of [name, 'Resources']) symlinkSync(join('Versions', 'Current', each), join(framework, each));
  for (const suffix of HELPERS) {
    const helper = join(frameworks, `Electron${suffix}.app`, 'Contents');
    write(join(helper, 'Info.plist'), info(`Electron${suffix}`, 'com.github.Electron.helper'));
    write(join(helper, 'MacOS', `Electron${suffix}`), machStub(arch), 0o755);
  }
  write(join(folder, 'version'), version);
  return folder;
}
