import { readFileSync } from 'node:fs';

declare const BELFRY_VERSION: string | undefined;

/** From package.json: put in by the bundler, read beside the sources otherwise. */
export const version: string =
  typeof BELFRY_VERSION === 'string'
    ? BELFRY_VERSION
    : (JSON.parse(readFileSync(new URL('../../package.json', import.meta.url), 'utf8')) as { version: string }).version;
