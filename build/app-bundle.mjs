// Reads a packed app: its archive, its property list, its programs.
import { createHash } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, readFileSync, readSync } from 'node:fs';
import { join } from 'node:path';

/**
 * The archive that Electron reads the app from: two numbers and a JSON header with offset, size and hash of each file; files
 * marked `unpacked` lie beside it. @returns the hash that Info.plist has to carry, and the files by path
 */
export function readArchive(path) {
  const handle = openSync(path, 'r');
  try {
    const take = (length, position) => {
      const bytes = Buffer.alloc(length);
      readSync(handle, bytes, 0, length, position);
      return bytes;
    };
    const head = take(16, 0);
    const header = take(head.readUInt32LE(12), 16);
    const start = 8 + head.readUInt32LE(4);
    const files = new Map();
    const list = (node, prefix) => {
      for (const [name, entry] of Object.entries(node.files)) {
        const at = `${prefix}${name}`;
        if (entry.files) list(entry, `${at}/`);
        else files.set(at, { unpacked: entry.unpacked === true, data: entry.unpacked ? readFileSync(join(`${path}.unpacked`, at)) : take(entry.size, start + Number(entry.offset)), hash: entry.integrity?.hash ?? null });
      }
    };
    list(JSON.parse(header.toString('utf8')), '');
    return { headerHash: createHash('sha256').update(header).digest('hex'), files };
  } finally {
    closeSync(handle);
  }
}

/** A property list in XML, as far as an Info.plist goes. */
export function readPlist(text) {
  const tokens = [...text.matchAll(/<(\/?)(dict|array|key|string|integer|true|false)(\/?)>([^<]*)/g)].map(([, closes, name, empty, value]) => ({ closes: closes === '/', empty: empty === '/', name, value }));
  let at = 0;
  const plain = (value) => value.replaceAll('&lt;', '<').replaceAll('&gt;', '>').replaceAll('&quot;', '"').replaceAll('&apos;', "'").replaceAll('&amp;', '&');
  const next = () => {
    const token = tokens[at];
    at += 1;
    if (token.name === 'true' || token.name === 'false') return token.name === 'true';
    if (token.name === 'dict' || token.name === 'array') {
      const values = [];
      if (!token.empty) {
        while (!tokens[at].closes) values.push(next());
        at += 1;
      }
      return token.name === 'array' ? values : Object.fromEntries(values.flatMap((value, index) => (index % 2 === 0 ? [[value, values[index + 1]]] : [])));
    }
    if (!token.empty) at += 1;
    return token.name === 'integer' ? Number(token.value) : plain(token.value);
  };
  return next();
}

const CPUS = new Map([[0x0100000c, 'arm64'], [0x01000007, 'x64']]);

/** The architectures of a Mach-O file; none where it is something else. */
export function architectures(bytes) {
  if (bytes.length < 32) return [];
  if (bytes.readUInt32LE(0) === 0xfeedfacf) return [CPUS.get(bytes.readUInt32LE(4))];
  if (bytes.readUInt32BE(0) !== 0xcafebabe) return [];
  return Array.from({ length: bytes.readUInt32BE(4) }, (_, index) => CPUS.get(bytes.readUInt32BE(8 + index * 20))).sort();
}

/** All files below a folder as relative paths; links are named, not followed. */
export function filesBelow(folder, prefix = '') {
  return readdirSync(join(folder, prefix)).sort().flatMap((name) => {
    const path = prefix === '' ? name : `${prefix}/${name}`;
    return lstatSync(join(folder, path)).isDirectory() ? filesBelow(folder, path) : [path];
  });
}
