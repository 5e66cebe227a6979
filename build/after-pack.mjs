// The last changes to a packed app before it is signed: every fuse, and what the packager writes into Info.plist whatever
// its settings say.
import { chmodSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { flipFuses, FuseV1Options, FuseVersion } from '@electron/fuses';

/**
 * All fuses that this Electron has: one that a later version adds fails the build until it is decided here. With RunAsNode
 * on, whoever starts the app with one variable set has an interpreter that carries its disk access.
 * @param inspect only for a build made to be tested: Playwright speaks to the app over the inspector
 */
export const fuses = (inspect = false) => ({
  version: FuseVersion.V1,
  strictlyRequireAllFuses: true,
  [FuseV1Options.RunAsNode]: false,
  [FuseV1Options.EnableCookieEncryption]: true,
  [FuseV1Options.EnableNodeOptionsEnvironmentVariable]: false,
  [FuseV1Options.EnableNodeCliInspectArguments]: inspect,
  [FuseV1Options.EnableEmbeddedAsarIntegrityValidation]: true,
  [FuseV1Options.OnlyLoadAppFromAsar]: true,
  [FuseV1Options.LoadBrowserProcessSpecificV8Snapshot]: false,
  [FuseV1Options.GrantFileProtocolExtraPrivileges]: false,
  // Electron's own default; without it WebAssembly checks bounds in slow code.
  [FuseV1Options.WasmTrapHandlers]: true,
});

/** The packager allows loads of any kind; the updates' own loopback server needs none but the local network. */
export function withoutArbitraryLoads(plist) {
  const changed = plist.replace(/(<key>NSAllowsArbitraryLoads<\/key>\s*)<true\/>/, '$1<false/>');
  if (!/<key>NSAllowsArbitraryLoads<\/key>\s*<false\/>/.test(changed)) throw new Error('Info.plist does not say NSAllowsArbitraryLoads where it was expected.');
  return changed;
}

export default async function afterPack(context) {
  const app = join(context.appOutDir, `${context.packager.appInfo.productFilename}.app`);
  const plist = join(app, 'Contents', 'Info.plist');
  writeFileSync(plist, withoutArbitraryLoads(readFileSync(plist, 'utf8')));
  chmodSync(join(app, 'Contents', 'MacOS', 'belfry-mcp'), 0o755);
  // Not the packager's own copy of the tool, which knows fewer of them.
  await flipFuses(app, fuses(process.env.BELFRY_FOR_TESTS === '1'));
}
