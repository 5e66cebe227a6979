import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { afterEach, expect, test } from 'vitest';
import { guarded } from './guard.ts';

let server: Server | null = null;
afterEach(() => {
  server?.closeAllConnections();
  server?.close();
});

async function served(answer: (request: IncomingMessage, response: ServerResponse) => void | Promise<void>): Promise<{ url: string; faults: unknown[] }> {
  const faults: unknown[] = [];
  server = createServer(guarded(answer, { fault: (error) => faults.push(error), say: (response, sentence) => void response.writeHead(500).end(sentence) })).listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, faults };
}

const fault = new TypeError('a secret of the request');
test.each([
  ['throws', () => { throw fault; }],
  ['rejects', () => Promise.reject(fault)],
  ['rejects later', async () => {
    await new Promise((resolve) => { setImmediate(resolve); });
    throw fault;
  }],
])('an answer that %s is a 500 with a fixed sentence, and is told once', async (_how, answer) => {
  const { url, faults } = await served(answer);
  for (const times of [1, 2]) {
    const got = await fetch(url);
    expect([got.status, await got.text()]).toEqual([500, 'Belfry met an unexpected fault']);
    expect(faults).toEqual(Array.from({ length: times }, () => fault));
  }
});

test('where the answer had begun, its connection is closed', async () => {
  const { url, faults } = await served((_request, response) => {
    response.writeHead(200, { 'content-length': '10' }).write('half');
    throw fault;
  });
  await expect(fetch(url).then((got) => got.text())).rejects.toThrow();
  expect(faults).toEqual([fault]);
});

test('what is written behind the end harms nothing', async () => {
  const { url, faults } = await served((_request, response) => {
    response.end('all');
    response.write('more');
    response.destroy();
    response.write('more');
  });
  await fetch(url).then((got) => got.text()).catch(() => undefined);
  expect(faults).toEqual([]);
});
