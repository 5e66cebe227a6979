import { isIP } from 'node:net';

/** A DNS name has at most 253 characters (RFC 1035), a port five digits. */
const MAX_HOST = 259;

export type ReadHost = { readonly ok: true; readonly host: string } | { readonly ok: false; readonly reason: string };

/**
 * A host that webhooks may go to, as URLs spell it: lower case, punycode, with the port unless it is 443. Names only: an
 * address says nothing of who answers there, and its owner changes.
 */
export function readHost(text: string): ReadHost {
  const given = text.trim();
  if (given === '') return refuse('is empty');
  if (given.length > MAX_HOST) return refuse(`is longer than ${MAX_HOST} characters`);
  if (/[\s\p{Cc}/\\?#@*]/u.test(given)) return refuse('is no host: write the name alone, such as hooks.example.net or hooks.example.net:8443');
  let url: URL;
  try {
    url = new URL(`https://${given}`);
  } catch {
    return refuse('is no host name');
  }
  const { host, hostname, port } = url;
  if (hostname.startsWith('[') || isIP(hostname) !== 0) return refuse('is an address: name the host');
  if (hostname === '' || hostname.startsWith('.') || hostname.endsWith('.') || hostname.includes('..') || port === '0') return refuse('is no host name');
  return { ok: true, host };
}

const refuse = (reason: string): ReadHost => ({ ok: false, reason });

/** Hosts as they are kept, each once, or a sentence that names the one that does not fit. */
export function readHosts(texts: readonly string[]): readonly string[] | string {
  const hosts = new Set<string>();
  for (const text of texts) {
    const read = readHost(text);
    if (!read.ok) return `${JSON.stringify(text.slice(0, 80))} ${read.reason}.`;
    hosts.add(read.host);
  }
  return [...hosts];
}

/** RFC 6761: these names mean the machine itself, so none of their addresses is public. */
const LOCAL = /^(?:.+\.)?localhost(?::\d+)?$/;

/** As `readHosts`, without what no webhook would ever go to. @param localToo whether webhooks may go to this machine */
export function hostsToAdd(texts: readonly string[], localToo: boolean): readonly string[] | string {
  const hosts = readHosts(texts);
  const local = typeof hosts === 'string' || localToo ? undefined : hosts.find((host) => LOCAL.test(host));
  return local === undefined ? hosts : `${JSON.stringify(local)} is this machine, and webhooks go to public hosts only.`;
}
