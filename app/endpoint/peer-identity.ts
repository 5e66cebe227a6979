import { createHash } from 'node:crypto';
import { open, readFile, readlink, stat } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Socket } from 'node:net';
import { basename, isAbsolute, resolve } from 'node:path';
import type { ClientIdentity } from '../policy/clients.ts';
import type { ClientProcess } from '../policy/settings.ts';

export type { ClientIdentity };

/** One process of the chain from a peer upwards. */
export interface ProcessFacts {
  readonly pid: number;
  readonly parent: number;
  /** Platform text that differs when the number is given to another process. */
  readonly startTime: string;
  readonly path: string;
  readonly argv: readonly string[];
  readonly cwd: string | null;
  /** Team and signing id of a valid signature (macOS), else null. */
  readonly team: string | null;
  readonly signingId: string | null;
}

export interface PeerIdentifier {
  /** Same user as the engine? Asked before the first line is read. */
  isSameUser(socket: Socket): boolean;
  identify(socket: Socket): Promise<ClientIdentity>;
  /** Whether that very process still runs. */
  alive(process: ClientProcess): boolean;
}

interface Addon {
  credentials(fd: number): { pid: number; uid: number };
  describe?(pid: number): Promise<{ pid: number; parent: number; startTime: string; path: string; arguments: string; team: string | null; signingId: string | null } | null>;
}

/** The client is looked for at most this far above the shim (architecture 6). */
const MAX_UP = 6;
const SHELLS = /^-?(?:ba|z|da|k|c|tc|fi|nu)?sh$|^(?:fish|nu|pwsh|env|sudo|nohup|xargs|timeout|login|time|setsid|script)$/;
const INTERPRETERS = /^(?:node|nodejs|bun|deno|python[\d.]*|ruby[\d.]*|perl[\d.]*|php[\d.]*|java|tsx|npx|npm|uv|uvx)$/i;
const ROOTS = /^(?:launchd|init|systemd|tini|dumb-init)$/;

/** What of a chain identifies the client: a process, and for an interpreter the script that it runs. */
export interface Choice {
  readonly process: ProcessFacts | null;
  readonly script: string | null;
}

/** The nearest ancestor that is not a shell or `env`; an interpreter counts together with its script. */
export function chooseClient(chain: readonly ProcessFacts[]): Choice {
  for (const process of chain.slice(0, MAX_UP)) {
    const name = basename(process.path);
    if (process.pid <= 1 || ROOTS.test(name)) break;
    if (SHELLS.test(name)) continue;
    if (!INTERPRETERS.test(name)) return { process, script: null };
    const script = scriptOf(process);
    // `node -e` and the like run text that nobody can name: the program above it is the client.
    if (script !== null) return { process, script };
  }
  return { process: null, script: null };
}

/** First argument that is no option, made absolute. Options with a value of their own are few and known. */
function scriptOf(process: ProcessFacts): string | null {
  const rest = process.argv.slice(1);
  for (let i = 0; i < rest.length; i += 1) {
    const word = rest[i]!;
    if (/^-(?:e|p|c|-eval|-print)$/.test(word)) return null;
    if (word === '-m') return rest[i + 1] ? `-m ${rest[i + 1]}` : null;
    if (/^(?:-r|--require|--import|--loader|--experimental-loader|-C|--conditions|-W|-X|-I)$/.test(word)) i += 1;
    else if (!word.startsWith('-')) return isAbsolute(word) ? word : process.cwd === null ? word : resolve(process.cwd, word);
  }
  return null;
}

/** @param hashOf SHA-256 (hex) of a file, or null where it cannot be read. */
export async function identityOf(choice: Choice, hashOf: (path: string) => Promise<string | null>): Promise<ClientIdentity> {
  const { process, script } = choice;
  if (process === null) {
    return { id: idOf(['nobody']), display: 'A program that could not be identified', persistable: false, signed: false, process: null };
  }
  const running = { pid: process.pid, startTime: process.startTime };
  const code = script === null ? [] : [script, (await hashOf(script)) ?? ''];
  if (process.team !== null && process.signingId !== null) {
    return { id: idOf(['signed', process.team, process.signingId, ...code]), display: script ?? process.path, persistable: true, signed: true, process: running };
  }
  const hash = await hashOf(process.path);
  return { id: idOf(['path', process.path, hash ?? '', ...code]), display: script ?? process.path, persistable: hash !== null, signed: false, process: running };
}

/** 8 hex digits; the parts are told apart, so that no two tuples read the same. */
const idOf = (parts: readonly string[]) => createHash('sha256').update(JSON.stringify(parts)).digest('hex').slice(0, 8);

/** Hashes of files, kept as long as device, inode, size and time of change are the same. Read in a stream. */
export function fileHasher(): (path: string) => Promise<string | null> {
  const known = new Map<string, Promise<string>>();
  return async (path) => {
    try {
      const { dev, ino, size, mtimeMs } = await stat(path);
      const key = `${dev}-${ino}-${size}-${mtimeMs}`;
      let hash = known.get(key);
      if (!hash) {
        if (known.size >= 256) known.delete(known.keys().next().value!);
        hash = hashFile(path);
        known.set(key, hash);
        hash.catch(() => known.delete(key));
      }
      return await hash;
    } catch {
      return null;
    }
  };
}

/** One buffer for all of it: an executable of 100 MB must not make the engine that big. */
async function hashFile(path: string): Promise<string> {
  const hash = createHash('sha256');
  const buffer = Buffer.allocUnsafe(1 << 18);
  const file = await open(path);
  try {
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, buffer.length);
      if (bytesRead === 0) return hash.digest('hex');
      hash.update(buffer.subarray(0, bytesRead));
    }
  } finally {
    await file.close();
  }
}

/** @param addonPath `peer-identity.node`, built beside the engine. */
export function peerIdentifier(addonPath: string): PeerIdentifier {
  const addon = createRequire(import.meta.url)(addonPath) as Addon;
  const hashOf = fileHasher();
  const describe = (pid: number) => (addon.describe ? describeByAddon(addon, pid) : describeByProc(pid));
  const credentials = (socket: Socket) => {
    const { fd } = (socket as unknown as { _handle: { fd: number } | null })._handle ?? { fd: -1 };
    return addon.credentials(fd);
  };
  return {
    isSameUser(socket) {
      try {
        return credentials(socket).uid === process.getuid?.();
      } catch {
        return false;
      }
    },
    async identify(socket) {
      let pid: number;
      try {
        ({ pid } = credentials(socket));
      } catch {
        return identityOf({ process: null, script: null }, hashOf);
      }
      const chain: ProcessFacts[] = [];
      const peer = await describe(pid);
      // The shim itself is not the client; what connects without it is.
      let next = peer === null ? 0 : basename(peer.path) === 'belfry-mcp' ? peer.parent : pid;
      for (let up = 0; up < MAX_UP && next > 1; up += 1) {
        const facts = await describe(next);
        if (facts === null) break;
        chain.push(facts);
        next = facts.parent;
      }
      return identityOf(chooseClient(chain), hashOf);
    },
    alive({ pid, startTime }) {
      if (process.platform === 'linux') return statOf(pid)?.startTime === startTime;
      try {
        process.kill(pid, 0);
        return true;
      } catch (error) {
        return (error as NodeJS.ErrnoException).code === 'EPERM';
      }
    },
  };
}

async function describeByAddon(addon: Addon, pid: number): Promise<ProcessFacts | null> {
  const facts = await addon.describe!(pid);
  if (facts === null) return null;
  return { ...facts, argv: facts.arguments.split('\0').filter((word) => word !== ''), cwd: null };
}

/** Linux: `/proc`. The start time is read before and after, or the number may have changed hands. */
async function describeByProc(pid: number): Promise<ProcessFacts | null> {
  try {
    const before = statOf(pid);
    const [path, line, cwd] = await Promise.all([
      readlink(`/proc/${pid}/exe`), readFile(`/proc/${pid}/cmdline`, 'utf8'), readlink(`/proc/${pid}/cwd`).catch(() => null),
    ]);
    const after = statOf(pid);
    if (before === null || after?.startTime !== before.startTime) return null;
    return { pid, ...before, path, argv: line.split('\0').slice(0, -1), cwd, team: null, signingId: null };
  } catch {
    return null;
  }
}

/** Fields 4 and 22 of `/proc/<pid>/stat`; the name before them may hold spaces and brackets. */
function statOf(pid: number): { parent: number; startTime: string } | null {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ');
    return { parent: Number(fields[1]), startTime: fields[19]! };
  } catch {
    return null;
  }
}
