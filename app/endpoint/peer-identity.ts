import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { open, type FileHandle } from 'node:fs/promises';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { basename, isAbsolute, resolve } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { ClientIdentity } from '../policy/clients.ts';
import type { ClientProcess } from '../policy/settings.ts';

export type { ClientIdentity };

/** One process of the chain from a peer upwards, as the kernel describes it. */
export interface ProcessFacts {
  readonly pid: number;
  readonly ppid: number;
  /** Platform text that differs when the number is given to another process. */
  readonly startTime: string;
  /** Of the executable; '' where it may not be read. */
  readonly path: string;
  /** Where to read the very file that runs, if not at `path` (Linux: `/proc/<pid>/exe`). */
  readonly image?: string;
  readonly argv: readonly string[];
  readonly cwd: string | null;
  /** Team and signing id of a valid signature (macOS), else null. */
  readonly team: string | null;
  readonly signingId: string | null;
  /** The signature holds. Never on Linux. */
  readonly valid: boolean;
}

export interface Credentials {
  readonly pid: number;
  readonly uid: number;
  readonly gid: number;
  /** macOS: names one process for good, also after its number was given away. */
  readonly auditToken: Buffer | null;
}

/** An accepted socket, or its descriptor. */
export type Accepted = Socket | number;

/** What the engine asks of the system about its peers. A test may fake it. */
export interface PeerIdentifier {
  /** Same user as the engine? Asked before the first line is read. */
  isSameUser(socket: Accepted): boolean;
  /** Never rejects: what cannot be found out is not persistable. */
  identify(socket: Accepted): Promise<ClientIdentity>;
  /** In the app the peer must be our own signed helper (architecture 6). Never rejects. */
  isSignedBy(socket: Accepted, team: string, signingId: string): Promise<boolean>;
  /** Whether that very process still runs. */
  alive(process: ClientProcess): boolean;
}

export interface SystemPeers extends PeerIdentifier {
  /** @throws where the descriptor is no connected unix socket */
  credentials(socket: Accepted): Credentials;
  /** Whether a process runs whose executable's path ends so. Looks through all processes: a millisecond or more. */
  runs(pathEnd: string): boolean;
}

interface Addon {
  credentials(fd: number): Credentials;
  startTime(pid: number): string | null;
  runs(pathEnd: string): boolean;
  ancestors(pid: number, max: number, token?: Buffer): Promise<Omit<ProcessFacts, 'image'>[]>;
}

/** The client is looked for at most this far above the shim (architecture 6). */
export const MAX_UP = 6;
const SHIM = 'belfry-mcp';
/** Programs that only start others. Names of executables, not what a process calls itself. */
const SHELLS = /^-?(?:(?:ba|z|da|k|mk|c|tc|a|ya|fi|r|x|el|oil|o)?sh|nu|pwsh|busybox|env|sudo|doas|su|nohup|nice|ionice|xargs|timeout|gtimeout|login|time|setsid|script|stdbuf|caffeinate|arch|direnv|mise|asdf)$/;
const INTERPRETERS = /^(?:node|nodejs|bun|bunx|deno|python[\d.]*t?|pypy[\d.]*|ruby[\d.]*|perl[\d.]*|php[\d.]*|java|lua[\d.]*|luajit|tclsh[\d.]*|osascript|tsx|npx|npm|pnpm|yarn|uv|uvx)$/i;
const ROOTS = /^(?:launchd|init|systemd|tini|dumb-init|docker-init|catatonit)$/;
/** Options whose next word is theirs and no script. */
const WITH_VALUE = /^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|--env-file|-W|-X|-I|-cp|-classpath|--class-path|--title)$/;
const INLINE = /^(?:-e|-p|-c|-pe|-ep|--eval|--print|-r)$/;

/** What of a chain identifies the client: a process, and for an interpreter the script that it runs. */
export type Choice =
  | { readonly kind: 'program'; readonly process: ProcessFacts }
  | { readonly kind: 'script'; readonly process: ProcessFacts; readonly script: string }
  /** An interpreter whose script cannot be hashed: it may be allowed while it runs, never for good. */
  | { readonly kind: 'unnamed'; readonly process: ProcessFacts; readonly module: string | null }
  | { readonly kind: 'nobody' };

/**
 * The nearest ancestor that only starts no others.
 * @param chain the peer's parent first; of a peer that is not the shim, the peer itself
 */
export function chooseClient(chain: readonly ProcessFacts[]): Choice {
  for (const process of chain.slice(0, MAX_UP)) {
    const name = nameOf(process);
    if (process.pid <= 1 || ROOTS.test(name)) break;
    if (SHELLS.test(name)) continue;
    if (!INTERPRETERS.test(name)) return process.path === '' ? { kind: 'unnamed', process, module: null } : { kind: 'program', process };
    const script = scriptOf(process);
    if (script.kind === 'file') return { kind: 'script', process, script: script.path };
    if (script.kind === 'none') return { kind: 'unnamed', process, module: script.module ?? null };
    // Text on a command line is a shell by another name: whoever wrote it is the client.
  }
  return { kind: 'nobody' };
}

/** Linux marks a file that was replaced under the process. */
const nameOf = (process: ProcessFacts) => basename(process.path.replace(/ \(deleted\)$/, ''));

type Script = { readonly kind: 'file'; readonly path: string } | { readonly kind: 'inline' } | { readonly kind: 'none'; readonly module?: string };

function scriptOf(process: ProcessFacts): Script {
  const words = process.argv.slice(1);
  const isPhp = /^php/i.test(nameOf(process));
  for (let i = 0; i < words.length; i += 1) {
    const word = words[i]!;
    const next = words[i + 1];
    if (word === '--') return fileOf(process, next);
    // `-m module` and `-jar file`: the module's file is the interpreter's to find, the jar is one.
    if (word === '-m') return next === undefined ? { kind: 'none' } : { kind: 'none', module: next };
    if (word === '-jar') return fileOf(process, next);
    if (INLINE.test(word) && (word !== '-r' || isPhp)) return { kind: 'inline' };
    if (/^--(?:eval|print)=/.test(word)) return { kind: 'inline' };
    if (WITH_VALUE.test(word)) i += 1;
    // `deno run file`, `bun run file`, `uv run file`.
    else if (word === 'run' && next !== undefined) continue;
    else if (word !== '' && !word.startsWith('-')) return fileOf(process, word);
  }
  return { kind: 'none' };
}

function fileOf(process: ProcessFacts, word: string | undefined): Script {
  if (word === undefined || word === '' || word === '-') return { kind: 'none' };
  if (isAbsolute(word)) return { kind: 'file', path: word };
  return process.cwd === null ? { kind: 'none' } : { kind: 'file', path: resolve(process.cwd, word) };
}

/**
 * @param hashOf SHA-256 (hex) of a file, or null where it cannot be read. Without a hash nothing tells this
 * program from a later one of its name, so it is not persistable.
 */
export async function identityOf(choice: Choice, hashOf: (path: string) => Promise<string | null>): Promise<ClientIdentity> {
  if (choice.kind === 'nobody') {
    return { id: idOf(['nobody']), display: 'A program that could not be identified', persistable: false, signed: false, process: null };
  }
  const { process } = choice;
  const running = { pid: process.pid, startTime: process.startTime };
  const signed = process.valid && process.team !== null && process.signingId !== null;
  const [program, scriptHash] = await Promise.all([
    signed ? ['signed', process.team!, process.signingId!] : hashOf(process.image ?? process.path).then((hash) => ['path', process.path, hash]),
    choice.kind === 'script' ? hashOf(choice.script) : null,
  ]);
  const script = choice.kind === 'script' ? [choice.script, scriptHash] : [];
  const module = choice.kind === 'unnamed' ? choice.module : null;
  // Without any name it is this one process and no other.
  const name = module === null ? [running.pid, running.startTime] : [module];
  const tuple = choice.kind === 'unnamed' ? ['unnamed', ...program, ...name] : [...program, ...script];
  return {
    id: idOf(tuple),
    display: choice.kind === 'script' ? choice.script : module === null ? process.path || `process ${process.pid}` : `${process.path} -m ${module}`,
    persistable: choice.kind !== 'unnamed' && !tuple.includes(null),
    signed,
    process: running,
  };
}

/** 8 hex digits; the parts are told apart, so that no two tuples read the same. */
const idOf = (parts: readonly (string | number | null)[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 8);

/** Hashes of files, kept as long as device, inode, size and time of change are the same. Read in a stream. */
export function fileHasher(max = 256): (path: string) => Promise<string | null> {
  const known = new Map<string, Promise<string>>();
  return async (path) => {
    let file: FileHandle | null = null;
    try {
      file = await open(path, 'r');
      // Of the open file, so that key and hash are of one.
      const stat = await file.stat({ bigint: true });
      if (!stat.isFile()) return null;
      const key = `${stat.dev}-${stat.ino}-${stat.size}-${stat.mtimeNs}`;
      let hash = known.get(key);
      if (!hash) {
        if (known.size >= max) known.delete(known.keys().next().value!);
        hash = hashFile(file, stat.size);
        known.set(key, hash);
        hash.catch(() => known.delete(key));
      }
      return await hash;
    } catch {
      return null;
    } finally {
      await file?.close().catch(() => undefined);
    }
  };
}

/** Above this a hash takes the event loop from everybody else: an agent's executable has up to 400 MB. */
const LONG_BYTES = 4n * 1024n * 1024n;

/** Reads through the descriptor, which threads share. One buffer for all of it, or the engine would grow by the file. */
const HASH_THREAD = `
  const { createHash } = require('node:crypto');
  const { readSync } = require('node:fs');
  const { parentPort, workerData } = require('node:worker_threads');
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(1 << 20);
  for (let at = 0, read; (read = readSync(workerData, buffer, 0, buffer.length, at)) > 0; at += read) hash.update(buffer.subarray(0, read));
  parentPort.postMessage(hash.digest('hex'));
`;

async function hashFile(file: FileHandle, bytes: bigint): Promise<string> {
  if (bytes > LONG_BYTES) {
    const worker = new Worker(HASH_THREAD, { eval: true, workerData: file.fd, stdout: false, stderr: false });
    const [hash] = (await once(worker, 'message')) as [string];
    return hash;
  }
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(1 << 18);
  for (let at = 0; ;) {
    const { bytesRead } = await file.read(buffer, 0, buffer.length, at);
    if (bytesRead === 0) return hash.digest('hex');
    hash.update(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
}

/** @param addonPath `peer-identity.node`, built beside the engine. */
export function peerIdentifier(addonPath: string): SystemPeers {
  const addon = createRequire(import.meta.url)(addonPath) as Addon;
  const hashOf = fileHasher();
  const credentials = (socket: Accepted) => addon.credentials(descriptorOf(socket));
  const chainOf = async (socket: Accepted, max: number): Promise<ProcessFacts[]> => {
    const { pid, auditToken } = credentials(socket);
    const chain = await addon.ancestors(pid, max, ...(auditToken ? [auditToken] : []));
    return process.platform === 'linux' ? chain.map((facts) => ({ ...facts, image: `/proc/${facts.pid}/exe` })) : chain;
  };
  return {
    credentials,
    isSameUser(socket) {
      try {
        return credentials(socket).uid === process.getuid?.();
      } catch {
        return false;
      }
    },
    async isSignedBy(socket, team, signingId) {
      const [peer] = await chainOf(socket, 1).catch(() => []);
      return peer !== undefined && peer.valid && peer.team === team && peer.signingId === signingId;
    },
    async identify(socket) {
      const chain = await chainOf(socket, MAX_UP + 1).catch(() => []);
      // The shim is not the client; what connects without it is.
      const [peer, ...above] = chain;
      return identityOf(chooseClient(peer && nameOf(peer) !== SHIM ? chain : above), hashOf);
    },
    runs: (pathEnd) => addon.runs(pathEnd),
    alive: ({ pid, startTime }) => addon.startTime(pid) === startTime,
  };
}

/** Node has no public way to a socket's descriptor; -1 for one that is closed. */
function descriptorOf(socket: Accepted): number {
  if (typeof socket === 'number') return socket;
  return (socket as unknown as { _handle: { fd?: number } | null })._handle?.fd ?? -1;
}
