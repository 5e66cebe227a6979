import { parseBuffer } from 'bplist-parser';
import { readFileSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

export interface Vip {
  readonly name: string | null;
  /** As Mail keeps them. */
  readonly addresses: readonly string[];
}

/** A list of people is small; a bigger file is none. */
const MAX_BYTES = 1024 * 1024;

/**
 * Mail's VIPs: `VIPs.plist` beside the index (data-formats/envelope-index 6). Absent, denied or of another form: none.
 * @param indexPath of the Envelope Index
 */
export function readVips(indexPath: string): readonly Vip[] {
  const path = join(dirname(indexPath), 'VIPs.plist');
  try {
    if (statSync(path).size > MAX_BYTES) return [];
    const plist = readFileSync(path);
    return plist.subarray(0, 6).toString('latin1') === 'bplist' ? fromBinary(plist) : fromXml(plist.toString('utf8'));
  } catch {
    return [];
  }
}

/** A dictionary: identifier -> { Name, EmailAddresses }. */
function fromBinary(plist: Buffer): Vip[] {
  const root = parseBuffer<unknown>(plist)[0];
  if (typeof root !== 'object' || root === null) return [];
  return Object.values(root).flatMap((entry) => {
    if (typeof entry !== 'object' || entry === null) return [];
    const { Name: name, EmailAddresses: addresses } = entry as { Name?: unknown; EmailAddresses?: unknown };
    return vipOf(typeof name === 'string' ? name : null, Array.isArray(addresses) ? addresses.filter((each) => typeof each === 'string') : []);
  });
}

/** The innermost dictionaries: this file has no deeper ones. */
function fromXml(plist: string): Vip[] {
  return [...plist.matchAll(/<dict>((?:(?!<\/?dict>)[\s\S])*)<\/dict>/g)].flatMap(([, body = '']) => {
    const name = /<key>\s*Name\s*<\/key>\s*<string>([^<]*)<\/string>/.exec(body)?.[1];
    const list = /<key>\s*EmailAddresses\s*<\/key>\s*<array>([\s\S]*?)<\/array>/.exec(body)?.[1] ?? '';
    return vipOf(name === undefined ? null : unescape(name), [...list.matchAll(/<string>([^<]*)<\/string>/g)].map(([, text = '']) => unescape(text)));
  });
}

function vipOf(name: string | null, addresses: readonly string[]): Vip[] {
  return addresses.length === 0 ? [] : [{ name: name === '' ? null : name, addresses }];
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" };

function unescape(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|(\w{2,4}));/gi, (whole, decimal?: string, hex?: string, name?: string) => {
    if (name !== undefined) return ENTITIES[name.toLowerCase()] ?? whole;
    const point = decimal === undefined ? Number.parseInt(hex!, 16) : Number(decimal);
    return point <= 0x10ffff ? String.fromCodePoint(point) : whole;
  });
}
