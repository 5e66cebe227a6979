import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { compile } from '../../build/native.mjs';
import { tempFolder } from '../testing/temp.ts';

const source = (name: string) => fileURLToPath(new URL(name, import.meta.url));

/** Reads lines, prints for each: id, method, requestId and uri as the scanner found them, tab between. */
const DRIVER = `
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include "line-scanner.h"
static void span(const char *l, struct span s) { for (size_t i = 0; i < s.length; i++) { char c = l[s.start + i]; putchar(c == '\\t' ? ' ' : c); } putchar('\\t'); }
int main(void) {
  char *line = NULL; size_t size = 0; ssize_t got;
  while ((got = getline(&line, &size, stdin)) > 0) {
    char *copy = malloc((size_t)got); memcpy(copy, line, (size_t)got - 1);
    struct scanned_line s; scan_line(copy, (size_t)got - 1, &s);
    printf("%d\\t%d\\t", s.is_object, s.has_method); span(copy, s.id); span(copy, s.request_id); span(copy, s.uri);
    for (char *m = s.method; *m; m++) if (*m < 32) *m = '?';
    printf("%s\\n", s.has_method ? s.method : ""); free(copy);
  }
  free(line); return 0;
}
`;

/** Small, seeded and good enough (mulberry32). */
function random(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const VALUES = ['1', '"a"', '"7"', '-3', '1e3', 'null', 'true', '{}', '[]', '{"id":9}', '[{"method":"x"}]', '"\\"}"', '"\\\\"', '{"a":[{"b":"]}"}]}', '"\\u0069d"', '" sp ace "', '"é😀"'];
const KEYS = ['"id"', '"\\u0069d"', '"method"', '"params"', '"jsonrpc"', '"result"', '"error"', '"requestId"', '"uri"', '"x"', '"i\\u0064"', '"idx"', '""'];

function makeLine(next: () => number, depth = 0): string {
  const pick = <T>(list: readonly T[]) => list[Math.floor(next() * list.length)]!;
  const space = () => (next() < 0.2 ? ' ' : '');
  const members = Array.from({ length: Math.floor(next() * 6) }, () => {
    const key = pick(KEYS);
    const value = key === '"method"' && next() < 0.8 ? pick(['"ping"', '"notifications/cancelled"', '"\\u0070ing"', '"resources/subscribe"'])
      : key === '"params"' && depth < 2 && next() < 0.8 ? makeLine(next, depth + 1) : pick(VALUES);
    return `${space()}${key}${space()}:${space()}${value}${space()}`;
  });
  return `{${members.join(',')}}`;
}

const same = (raw: string, value: unknown) => {
  try {
    return value === undefined ? raw === '' : JSON.stringify(JSON.parse(raw)) === JSON.stringify(value);
  } catch {
    return false;
  }
};

test('finds what JSON.parse finds in 200,000 random lines, and survives broken ones under the sanitizers', () => {
  using folder = tempFolder();
  writeFileSync(folder.at('driver.c'), DRIVER);
  const binary = folder.at('driver');
  compile(['-std=gnu11', '-g', '-O1', '-Wall', '-Wextra', '-fsanitize=address,undefined', '-fno-sanitize-recover', `-I${source('.')}`, folder.at('driver.c'), source('line-scanner.c')], binary);
  const seed = Number(process.env['BELFRY_SEED'] ?? Date.now() % 1_000_000_000);
  const next = random(seed);
  const lines: string[] = [];
  for (let i = 0; i < 200_000; i += 1) {
    let line = makeLine(next);
    if (next() < 0.3) {
      // Break it: cut, or one character changed.
      const at = Math.floor(next() * line.length);
      line = next() < 0.5 ? line.slice(0, at) : `${line.slice(0, at)}${'{}[]",:\\ x'[Math.floor(next() * 10)]}${line.slice(at + 1)}`;
    }
    // A character cut in half does not exist in UTF-8.
    lines.push(Buffer.from(line).toString());
  }
  lines.push('{"id":1,"a":' + '['.repeat(100_000) + ']'.repeat(100_000) + ',"method":"deep"}', '{"id":1,"a":' + '['.repeat(100_000), '{', '"', '', '[1]', '{"id":"\\');
  const output = execFileSync(binary, { input: `${lines.join('\n')}\n`, maxBuffer: 1 << 28, encoding: 'utf8' }).split('\n');
  const wrong: string[] = [];
  let compared = 0;
  lines.forEach((line, i) => {
    let value: unknown;
    try {
      value = JSON.parse(line);
    } catch {
      return;
    }
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return;
    compared += 1;
    const object = value as Record<string, unknown>;
    const [isObject, hasMethod, id, requestId, uri, method] = output[i]!.split('\t');
    const params = object['params'] as Record<string, unknown> | undefined;
    const inParams = typeof params === 'object' && params !== null && !Array.isArray(params) ? params : {};
    const fits = isObject === '1' && same(id!, object['id']) && same(requestId!, inParams['requestId']) && same(uri!, inParams['uri'])
      && (hasMethod === '1') === (typeof object['method'] === 'string') && (hasMethod === '0' || method === Buffer.from(object['method'] as string).toString('latin1').replaceAll(/[^\x20-\x7f]/g, '?'));
    if (!fits) wrong.push(`${line} -> ${output[i]}`);
  });
  expect(wrong.slice(0, 3), `seed ${seed}`).toEqual([]);
  expect(compared).toBeGreaterThan(100_000);
}, 120_000);
