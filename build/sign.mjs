// Signs the app for the packager: first the helper, which asks for nothing and so carries no entitlements, then the rest.
// Left to itself the packager would give every program in the bundle the entitlements of Electron's processes.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';

/** By which the app knows its helper: app/engine/engine.ts asks for it. */
const HELPER_ID = 'dev.belfry.belfry-mcp';

/** Nobody's signature ("-") gets neither a time nor the hardened runtime: a development build. */
const helperArguments = ({ app, identity, keychain }) => [
  '--sign', identity, '--force', '--identifier', HELPER_ID, ...(identity === '-' ? [] : ['--timestamp', '--options', 'runtime']), ...(keychain ? ['--keychain', keychain] : []), helperOf(app),
];
const helperOf = (app) => join(app, 'Contents', 'MacOS', 'belfry-mcp');

/**
 * @param options what the packager would sign with
 * @param tools stand-ins for tests
 */
export default async function sign(options, _packager, tools = {}) {
  const codesign = tools.codesign ?? ((args) => execFileSync('/usr/bin/codesign', args, { stdio: 'inherit' }));
  const signApp = tools.signApp ?? (await import('@electron/osx-sign')).sign;
  codesign(helperArguments(options));
  const helper = helperOf(options.app);
  await signApp({ ...options, ignore: (file) => file === helper || (options.ignore?.(file) ?? false) });
}
