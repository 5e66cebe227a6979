import type { IncomingHttpHeaders } from 'node:http';

export const HEADER_MISMATCH = -32020;

/** Which field of `params` a method's `Mcp-Name` repeats. */
const NAMED: Readonly<Record<string, 'name' | 'uri'>> = {
  'tools/call': 'name', 'prompts/get': 'name', 'resources/read': 'uri',
  'events/poll': 'name', 'events/stream': 'name', 'events/subscribe': 'name', 'events/unsubscribe': 'name',
};

/**
 * What in the routing headers of a `2026-07-28` request does not repeat its body, as a sentence, or null. What lies
 * between client and server may route by the headers alone, so a request whose two halves differ is not served.
 */
export function mirrorFault(headers: IncomingHttpHeaders, message: { readonly method: string; readonly params?: unknown }, version: string): string | null {
  const params = (message.params ?? {}) as Record<string, unknown>;
  const differs = fault('MCP-Protocol-Version', headers['mcp-protocol-version'], version, asIs) ?? fault('Mcp-Method', headers['mcp-method'], message.method, asIs);
  if (differs !== null) return differs;
  const field = Object.hasOwn(NAMED, message.method) ? NAMED[message.method]! : null;
  if (field === null) return null;
  const value = params[field];
  // Without a value there is nothing to repeat: what is missing is the body's own fault.
  return typeof value === 'string' ? fault('Mcp-Name', headers['mcp-name'], value, decoded) : null;
}

function fault(name: string, header: string | string[] | undefined, value: string, read: (text: string) => string | null): string | null {
  if (header === undefined) return `${name}: the header is missing`;
  const given = read(String(header).trim());
  if (given === null) return `${name}: the base64 word cannot be decoded`;
  return given === value ? null : `${name}: the header differs from the body`;
}

const asIs = (text: string) => text;

/** Text that no header can hold stands there as `=?base64?...?=`. */
function decoded(text: string): string | null {
  const word = /^=\?base64\?([A-Za-z0-9+/]*={0,2})\?=$/.exec(text)?.[1];
  if (word === undefined) return text.startsWith('=?base64?') ? null : text;
  const bytes = Buffer.from(word, 'base64');
  if (bytes.toString('base64').replace(/=+$/, '') !== word.replace(/=+$/, '')) return null;
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return null;
  }
}
