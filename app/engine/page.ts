import { randomBytes, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { renderEvent } from '../mcp/stream.ts';
import type { Outcome } from '../events/hub.ts';
import { payloadOf } from '../events/occurrence.ts';
import type { Engine } from './engine.ts';
import { pageHtml } from './page-html.ts';

export interface Page {
  /** With a code that works once. */
  readonly address: string;
  close(): Promise<void>;
}

const COOKIE = 'belfry';

/**
 * The live page of a headless engine on loopback. The address carries a one-use code that becomes a cookie and
 * leaves the address; Host and Origin are checked, so that no other page in the browser can look in.
 */
export async function startPage(engine: Engine, port: number): Promise<Page> {
  const session = randomBytes(24).toString('base64url');
  let code: string | null = randomBytes(24).toString('base64url');
  const lookers = new Set<ServerResponse>();
  const server = createServer((request, response) => {
    const { port: bound } = server.address() as AddressInfo;
    const hosts = [`127.0.0.1:${bound}`, `localhost:${bound}`];
    const { origin, host } = request.headers;
    if (!hosts.includes(host ?? '') || (origin !== undefined && !hosts.some((each) => origin === `http://${each}`))) return plain(response, 403, 'This page is for this computer only.');
    if (request.method !== 'GET') return plain(response, 405, 'Only GET is served here.');
    const url = new URL(request.url ?? '/', `http://${host}`);
    const given = url.searchParams.get('code');
    if (url.pathname === '/' && given !== null) {
      if (code === null || !same(given, code)) return plain(response, 403, 'This address was used already. Start the engine again for a new one.');
      code = null;
      response.writeHead(303, { location: '/', 'set-cookie': `${COOKIE}=${session}; HttpOnly; SameSite=Strict; Path=/` }).end();
      return;
    }
    if (!same(cookieOf(request), session)) return plain(response, 403, 'Open the address that the engine printed.');
    if (url.pathname === '/') {
      response.writeHead(200, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': "default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-" + pageHtml.scriptHash + "'; connect-src 'self'; frame-ancestors 'none'",
        'referrer-policy': 'no-referrer',
        'cache-control': 'no-store',
      }).end(pageHtml.text);
    } else if (url.pathname === '/live') {
      response.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' });
      response.write(frame('status', status(engine)));
      lookers.add(response);
      response.on('close', () => lookers.delete(response));
    } else plain(response, 404, 'There is no such page.');
  });
  const tell = (event: string, value: object) => {
    const text = frame(event, value);
    // One who does not read is dropped: the page connects again by itself.
    for (const looker of lookers) if (!looker.write(text) && looker.writableLength > 1_000_000) looker.destroy();
  };
  const ignore = engine.live.listen({
    outcome: (outcome) => {
      if (lookers.size > 0) tell('row', rowOf(outcome, engine));
    },
    changed: () => {
      if (lookers.size > 0) tell('status', status(engine));
    },
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, '127.0.0.1', resolve);
  });
  return {
    address: `http://127.0.0.1:${(server.address() as AddressInfo).port}/?code=${code}`,
    async close() {
      ignore();
      for (const looker of lookers) looker.destroy();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

/** One row of Live: the envelope, the verdict, and what was sent as it was sent. */
export function rowOf(outcome: Outcome, engine: Engine): object {
  const { occurrence, notArrival, sentTo, keptFor, notSent } = outcome;
  const { subjects } = engine.policy;
  const allowed = engine.policy.ruleFor(occurrence) !== null;
  const unsent = notArrival ?? (keptFor.length > 0 ? 'waiting' : notSent[0]?.reason) ?? (allowed ? 'no-listener' : 'no-allowed-sender');
  return {
    at: Date.now(),
    type: occurrence.type,
    payload: payloadOf(occurrence, subjects),
    sentTo: [...new Set(sentTo.map(({ id }) => engine.policy.clientName(id)))],
    reason: sentTo.length > 0 ? null : unsent,
    json: sentTo.length > 0 ? `{${renderEvent(occurrence, subjects)}}` : null,
  };
}

function status(engine: Engine): object {
  const streams = [...engine.hubs].reduce((sum, hub) => sum + hub.size, 0);
  return {
    on: [...engine.hubs].filter((hub) => engine.policy.eventOn(hub.type)).map((hub) => hub.type),
    trouble: [...engine.hubs].filter((hub) => hub.tail.running && hub.tail.trouble !== null).map((hub) => ({ type: hub.type, reason: hub.tail.trouble })),
    connections: [...engine.peers].length,
    streams,
    paused: engine.policy.pausedUntil,
  };
}

const frame = (event: string, value: object) => `event: ${event}\ndata: ${JSON.stringify(value)}\n\n`;

function plain(response: ServerResponse, code: number, sentence: string): void {
  response.writeHead(code, { 'content-type': 'text/plain; charset=utf-8' }).end(`${sentence}\n`);
}

function cookieOf(request: IncomingMessage): string {
  return /(?:^|;\s*)belfry=([\w-]+)/.exec(request.headers.cookie ?? '')?.[1] ?? '';
}

function same(given: string, wanted: string): boolean {
  const [a, b] = [Buffer.from(given), Buffer.from(wanted)];
  return a.length === b.length && timingSafeEqual(a, b);
}
