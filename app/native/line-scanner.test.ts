import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compile } from '../../build/native.mjs';
import { Random } from '../testing/random.ts';
import { tempFolder } from '../testing/temp.ts';

const source = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Reads lines, prints for each: whole, kind, and the spans of id, method, requestId and uri, tab between. */
const DRIVER = `
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "line-scanner.h"
static void span(const char *l, struct span s) { putchar('\\t'); for (size_t i = 0; i < s.length; i++) { char c = l[s.start + i]; putchar(c == '\\t' ? ' ' : c); } }
int main(void) {
  char *line = NULL; size_t size = 0; ssize_t got;
  while ((got = getline(&line, &size, stdin)) > 0) {
    /* Exactly as large as the line, so that a read past its end is seen. */
    size_t length = (size_t)got - 1; char *copy = malloc(length ? length : 1); memcpy(copy, line, length);
    struct scanned_line s; int whole = scan_line(copy, length, &s);
    printf("%d\\t%d", whole, s.kind); span(copy, s.id); span(copy, s.method); span(copy, s.request_id); span(copy, s.uri);
    putchar('\\n'); free(copy);
  }
  free(line); return 0;
}
`;

const VALUES = ['1', '"a"', '"7"', '-3', '1e3', 'null', 'true', '{}', '[]', '{"id":9}', '[{"method":"x"}]', '"\\"}"', '"\\\\"', '{"a":[{"b":"]}"}]}', '"\\u0069d"', '" sp ace "', '"é😀"'];
const KEYS = ['"id"', '"\\u0069d"', '"method"', '"params"', '"jsonrpc"', '"result"', '"error"', '"requestId"', '"uri"', '"x"', '"i\\u0064"', '"idx"', '""'];

function makeLine(random: Random, depth = 0): string {
  const space = () => random.pick(['', '', '', '', ' ', '\t', '\r', '  ']);
  const members = Array.from({ length: random.between(0, 5) }, () => {
    const key = random.pick(KEYS);
    const value = key === '"method"' && random.chance(0.8) ? random.pick(['"ping"', '"notifications/cancelled"', '"\\u0070ing"', '"resources/subscribe"'])
      : key === '"params"' && depth < 2 && random.chance(0.8) ? makeLine(random, depth + 1) : random.pick(VALUES);
    return `${space()}${key}${space()}:${space()}${value}${space()}`;
  });
  return `${space()}{${members.join(',')}}${space()}`;
}

const same = (raw: string, value: unknown) => {
  try {
    return value === undefined ? raw === '' : JSON.stringify(JSON.parse(raw)) === JSON.stringify(value);
  } catch {
    return false;
  }
};

const UNKNOWN = 0, REQUEST = 1, NOTIFICATION = 2, RESPONSE = 3;

function kindOf(object: Record<string, unknown>): number {
  const has = (key: string) => Object.hasOwn(object, key);
  if (has('method')) return typeof object['method'] !== 'string' ? UNKNOWN : has('id') ? REQUEST : NOTIFICATION;
  return has('id') && (has('result') || has('error')) ? RESPONSE : UNKNOWN;
}

test('agrees with JSON.parse on 250,000 random and broken lines, under the sanitizers', () => {
  using folder = tempFolder();
  writeFileSync(folder.at('driver.c'), DRIVER);
  const binary = folder.at('driver');
  const sources = [folder.at('driver.c'), source('line-scanner.c'), source('json-text.c')];
  compile(['-std=gnu11', '-g', '-O1', '-Wall', '-Wextra', '-Werror', '-fsanitize=address,undefined', '-fno-sanitize-recover', `-I${source('.')}`, ...sources], binary);
  const seed = Number(process.env['BELFRY_SEED'] ?? Date.now() % 1_000_000_000);
  console.log(`line scanner: BELFRY_SEED=${seed}`);
  const random = new Random(seed);
  const lines: string[] = [];
  for (let i = 0; i < 250_000; i += 1) {
    let line = makeLine(random);
    // Break it: cut it, or change, add or drop some characters.
    if (random.chance(0.1)) line = line.slice(0, random.between(0, line.length));
    else if (random.chance(0.35)) {
      for (let n = random.between(1, 3); n > 0; n -= 1) {
        const at = random.between(0, line.length);
        line = `${line.slice(0, at)}${random.pick([...'{}[]",:\\ x1eE+-.0tn/u\x01\x7f', ''])}${line.slice(at + random.between(0, 1))}`;
      }
    }
    // Half an emoji would be written as another character than the one that is compared.
    lines.push(line.toWellFormed());
  }
  const deep = (open: string, close: string, n: number) => `{"id":1,"a":${open.repeat(n)}0${close.repeat(n)},"method":"deep"}`;
  lines.push(
    deep('[', ']', 1023), deep('[', ']', 1024), deep('[', ']', 1025), deep('[', ']', 300_000), deep('{"b":', '}', 1023), deep('{"b":', '}', 1030), deep('{"b":', '}', 100_000),
    `{"id":1,"a":${'['.repeat(300_000)}`, '{', '"', '', '[1]', '{"id":"\\', '{"id":1', '{"id":1,', '{"id":1}x', '{"id":01}', '{"id":1.}', '{"id":-}', '\ufeff{"id":1}', '{"id":"\\ud83d\\ude00"}', '{"id":"\\ud83d"}',
  );
  const output = execFileSync(binary, { input: `${lines.join('\n')}\n`, maxBuffer: 1 << 29, encoding: 'utf8' }).split('\n');
  const wrong: string[] = [];
  let whole = 0;
  lines.forEach((line, i) => {
    const [isWhole, kind, id, method, requestId, uri] = output[i]!.split('\t');
    let value: unknown = null;
    try {
      value = JSON.parse(line);
    } catch {
      // No JSON.
    }
    const object = typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Record<string, unknown>) : null;
    let fits = isWhole === (object === null ? '0' : '1');
    if (object === null) {
      fits &&= kind === String(UNKNOWN);
    } else {
      whole += 1;
      const params = object['params'];
      const inParams = typeof params === 'object' && params !== null && !Array.isArray(params) ? (params as Record<string, unknown>) : {};
      fits &&= kind === String(kindOf(object)) && same(id!, object['id']) && same(method!, object['method'])
        && same(requestId!, inParams['requestId']) && same(uri!, inParams['uri']);
    }
    if (!fits) wrong.push(`${line.slice(0, 300)} -> ${output[i]!.slice(0, 300)}`);
  });
  expect(wrong.slice(0, 3), `seed ${seed}`).toEqual([]);
  expect(whole).toBeGreaterThan(100_000);
  expect(lines.length - whole).toBeGreaterThan(40_000);
}, 120_000);
