import { describe, expect, test } from 'vitest';
import { parseToml, tomlValue } from './toml.ts';
import { SettingsTrouble } from './trouble.ts';

function read(text: string): unknown {
  return JSON.parse(JSON.stringify(tomlValue(parseToml(text).root)));
}

describe('reads TOML', () => {
  test.each([
    ['', {}],
    ['# only a comment', {}],
    ['a = 1\r\n\r\n[b] # c\r\nd = true\r\n', { a: { number: '1' }, b: { d: true } }],
    ['a.b."c d".\'e.f\' = "x"', { a: { b: { 'c d': { 'e.f': 'x' } } } }],
    ['[a . "b".c]\nd = 1979-05-27 07:32:00Z\n[[x]]\n[[x]]\ny = []\n[x.z]', { a: { b: { c: { d: { number: '1979-05-27 07:32:00Z' } } } }, x: [{}, { y: [], z: {} }] }],
    [String.raw`a = "tab\t quote\" \\ \u65e5 \U0001F469"` + '\nb = \'C:\\x\'', { a: 'tab\t quote" \\ 日 👩', b: 'C:\\x' }],
    ['a = """\nfirst\\\n   joined ""two"" """""\nb = \'\'\'\nit\'s \\n\'\'\'', { a: 'firstjoined ""two"" ""', b: 'it\'s \\n' }],
    ['a = [ 1, # one\n  [ "two", \'\'\'three\'\'\', ],\n\n]', { a: [{ number: '1' }, ['two', 'three']] }],
    ['a = { b = 1, c.d = "x", e = {} }', { a: { b: { number: '1' }, c: { d: 'x' }, e: {} } }],
    ['[fruit]\napple.color = "red"\n[fruit.apple.texture]\nsmooth = true', { fruit: { apple: { color: 'red', texture: { smooth: true } } } }],
    ['a = 0xAb', { a: { number: '0xAb' } }],
    ['"" = inf\nb = -1_000.5e+3', { '': { number: 'inf' }, b: { number: '-1_000.5e+3' } }],
  ])('%j', (text, value) => {
    expect(read(text)).toEqual(value);
  });
});

describe('refuses what is no TOML, with the line', () => {
  test.each([
    ['a = 1\nb', 2, '"=" is missing'],
    ['a = ', 1, 'a value is missing or not understood'],
    ['a = bare', 1, 'a value is missing or not understood'],
    ['a = 01', 1, 'a value is missing or not understood'],
    ['a = 1__0', 1, 'a value is missing or not understood'],
    ['a = "open\n', 1, 'a string does not end'],
    ['a = """open\n', 2, 'a string does not end'],
    ['a = "\\q"', 1, 'an escape is not understood'],
    ['a = "\\ud800"', 1, 'an escape is no character'],
    ['a = 1 b = 2', 1, 'something follows where the line should end'],
    ['[a]\n[a]', 2, '"a" is set twice'],
    ['a = 1\na = 2', 2, '"a" is set twice'],
    ['a.b = 1\n[a]', 2, '"a" is set twice'],
    ['a = {}\na.b = 1', 2, '"a" is set twice'],
    ['a = {}\n[a.b]', 2, '"a" is set twice'],
    ['a = []\n[[a]]', 2, '"a" is set twice'],
    ['[a.b]\n[a]\nb.c = 1', 3, '"b" is set twice'],
    ['[a', 1, '"]" is missing'],
    ['[[a]', 1, '"]]" is missing'],
    ['[]', 1, 'a key is missing or not understood'],
    ['a = [1 2]', 1, 'a comma or "]" is missing'],
    ['a = {b = 1 c = 2}', 1, 'a comma or "}" is missing'],
    ['a = 1\r\rb = 2', 1, 'something follows where the line should end'],
    ['# \u0001', 1, 'a comment has a control character'],
    ['{"mcpServers": {}}', 1, 'a key is missing or not understood'],
  ])('%j', (text, line, what) => {
    expect(() => parseToml(text)).toThrow(new SettingsTrouble('unreadable', `Line ${line} of the file is not valid TOML: ${what}.`));
  });
  test.each([`a = ${'['.repeat(100_000)}`, `a = ${'{a='.repeat(100_000)}`, `[${'a.'.repeat(100_000)}a]`])('nested too deep: %#', (text) => {
    expect(() => parseToml(text)).toThrow('The file is nested more than 100 levels deep.');
  });
});

test('statements and values know their place', () => {
  const text = 'top = 1\n\n[a.b] # c\nx.y = "v"\n# end\n';
  const { statements } = parseToml(text);
  expect(statements.map(({ kind, path, start, end }) => [kind, path, text.slice(start, end)])).toEqual([
    ['pair', ['top'], 'top = 1\n'], ['header', ['a', 'b'], '[a.b] # c\n'], ['pair', ['a', 'b', 'x', 'y'], 'x.y = "v"\n'],
  ]);
  expect(statements[2]!.leaves.map(({ path, start, end }) => [path, text.slice(start, end)])).toEqual([[['a', 'b', 'x', 'y'], '"v"']]);
});
