import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { existsSync } from 'node:fs';
import { regionFromLocale } from '../apple/sender.ts';
import type { StoreKind } from '../apple/occurrence.ts';
import { peerIdentifier } from '../endpoint/peer-identity.ts';
import { EndpointError } from '../endpoint/endpoint.ts';
import { FolderHeldError } from '../endpoint/lock.ts';
import { KEY_BYTES, type IndexKey } from '../search/index-file.ts';
import { Engine, type EngineOptions } from './engine.ts';
import { describeFault, type Log } from './log.ts';
import { fileMarker } from './quarantine.ts';

declare const BELFRY_TEAM: string | undefined;
declare const BELFRY_SHIPPED: boolean | undefined;

/** In the app that people install: put in by the bundler, absent elsewhere. */
const shipped = typeof BELFRY_SHIPPED === 'boolean' && BELFRY_SHIPPED;

/** What a host says in flags or in its first message; the rest is where macOS keeps things. */
export interface EngineSettings {
  readonly dataDir: string;
  readonly mailDir?: string | undefined;
  readonly messagesDb?: string | undefined;
  readonly accountsDb?: string | undefined;
  readonly addressBookDir?: string | undefined;
  readonly region?: string | undefined;
  readonly trustLocalClients?: boolean | undefined;
  /** See EngineOptions. */
  readonly httpPort?: number | null | undefined;
  /** Certificates (PEM) of receivers on this machine, to which webhooks may then go: development and tests. */
  readonly webhookCa?: string | undefined;
  /** Base64, 32 bytes or more. Only ever in the start message of the app's host, never on a command line. */
  readonly sealKey?: string | undefined;
  /** Base64 of 32 bytes: the search index is encrypted with it. Only ever in the start message of the app's host. */
  readonly searchKey?: string | undefined;
  /** `serve` only: a search index that is not encrypted. */
  readonly plainIndex?: boolean | undefined;
  /** Whether the Mac runs on battery as the engine starts; later the host says so by a message. */
  readonly onBattery?: boolean | undefined;
}

/** Where the two stores are, unless a setting says otherwise. */
export function storesOf({ mailDir, messagesDb }: Pick<EngineSettings, 'mailDir' | 'messagesDb'>): { readonly mailDir: string; readonly messagesDb: string } {
  const library = join(homedir(), 'Library');
  return { mailDir: mailDir ?? join(library, 'Mail'), messagesDb: messagesDb ?? join(library, 'Messages', 'chat.db') };
}

/** Ends of the executables' paths: Mail and Messages may lie below /System or /System/Volumes. */
const APPLE_APPS: Readonly<Record<StoreKind, string>> = { mail: '/Mail.app/Contents/MacOS/Mail', messages: '/Messages.app/Contents/MacOS/Messages' };

/** The engine with everything that a system has: its stores, its clock, its kernel. Tests and the bench replace edges. */
export function engineOf(
  settings: EngineSettings, kind: EngineOptions['kind'], log: Log, onFatal: (sentence: string) => void, edges: Partial<Pick<EngineOptions, 'clock' | 'watcher' | 'peers' | 'helperTeam' | 'osascript' | 'sourceRuns' | 'credentials' | 'routes' | 'loopbackReceivers'>> = {},
): Engine {
  const library = join(homedir(), 'Library');
  const peers = peerIdentifier(nativeFile('peer-identity.node'));
  return new Engine({
    dataDir: settings.dataDir,
    ...storesOf(settings),
    accountsDb: settings.accountsDb ?? join(library, 'Accounts', 'Accounts4.sqlite'),
    addressBookDir: settings.addressBookDir ?? join(library, 'Application Support', 'AddressBook'),
    region: settings.region ?? regionFromLocale(process.env),
    kind,
    helperTeam: kind === 'app' && typeof BELFRY_TEAM === 'string' && BELFRY_TEAM !== '' ? BELFRY_TEAM : null,
    trustLocalClients: !shipped && settings.trustLocalClients === true,
    sealKey: settings.sealKey,
    httpPort: settings.httpPort,
    searchKey: searchKeyOf(settings),
    searchWorker: searchWorker(),
    loopbackReceivers: !shipped && settings.webhookCa !== undefined ? { ca: settings.webhookCa } : undefined,
    peers,
    ...(process.platform === 'darwin' && {
      sourceRuns: (kind: StoreKind) => peers.runs(APPLE_APPS[kind]),
      quarantine: fileMarker(nativeFile('peer-identity.node'), () => Date.now()),
    }),
    log,
    onFatal,
    ...edges,
  });
}

/** A key that is not whole is none: an index that anybody could read is made only where it was asked for. */
function searchKeyOf({ searchKey, plainIndex }: EngineSettings): IndexKey | null {
  if (searchKey !== undefined) {
    const key = Buffer.from(searchKey, 'base64');
    return key.length === KEY_BYTES ? { key } : null;
  }
  return plainIndex === true ? { plain: true } : null;
}

/** Threads run a file of their own: in a bundle it lies beside, from source it is the source. */
function searchWorker(): URL {
  return import.meta.url.endsWith('.ts') ? new URL('../search/worker.ts', import.meta.url) : pathToFileURL(besideBundle('search-worker.js'));
}

/** A native part in `dist/bin`. */
export const nativeFile = (name: string): string => besideBundle('bin', name);

/** `dist/` holds the bundle, or lies two folders up from a source file. */
export function besideBundle(...parts: readonly string[]): string {
  const here = dirname(fileURLToPath(import.meta.url));
  const places = [join(here, ...parts), join(here, '..', ...parts), join(here, '..', '..', 'dist', ...parts)];
  return places.find((path) => existsSync(path)) ?? places[0]!;
}

/** Why an engine did not start, as a whole sentence without a path: the same under every host. */
export function startTrouble(error: unknown): string {
  if (error instanceof FolderHeldError || error instanceof EndpointError) return error.message;
  const { code } = error as { code?: string };
  const why = code === 'EACCES' || code === 'EPERM' ? 'the data folder cannot be written to.'
    : code === 'ENOTDIR' || code === 'EEXIST' ? 'the data folder is not a folder.'
    : code === 'ENOSPC' ? 'the disk is full.'
    : describeFault(error);
  return `The engine could not start: ${why}`;
}
