import { parse, type ParseError } from 'jsonc-parser';
import { describe, expect, test } from 'vitest';
import { Random } from '../testing/random.ts';
import { jsonSettings } from './json-settings.ts';
import { SettingsTrouble } from './trouble.ts';

const place = ['mcpServers'];
const settings = jsonSettings(() => [place]);
const root = jsonSettings(() => [[]]);
const entry = { command: "/Applications/It's here.app/Contents/MacOS/belfry-mcp", args: ['--client=cursor'] };

function parsedStrictly(text: string): unknown {
  const errors: ParseError[] = [];
  const value: unknown = parse(text, errors, { allowTrailingComma: true });
  expect(errors).toEqual([]);
  return value;
}

/** Starting texts with a map that has members: adding and removing must be inverse without any help from a backup. */
const inverse: readonly (readonly [string, string])[] = [
  ['another server', '{\n  "mcpServers": {\n    "other": {\n      "command": "x"\n    }\n  }\n}\n'],
  ['settings before and after', '{\n  "theme": "dark",\n  "mcpServers": {\n    "other": { "command": "x" }\n  },\n  "last": true\n}\n'],
  ['tabs', '{\n\t"mcpServers": {\n\t\t"other": {}\n\t}\n}'],
  ['four spaces and no final newline', '{\n    "mcpServers": {\n        "other": {}\n    }\n}'],
  ['CRLF', '{\r\n  "mcpServers": {\r\n    "other": {}\r\n  }\r\n}\r\n'],
  ['a lone CR as line ending', '{\r  "mcpServers": {\r    "other": {}\r  }\r}\r'],
  ['a trailing comma', '{\n  "mcpServers": {\n    "other": {},\n  },\n}\n'],
  ['a comment behind the last server', '{\n  "mcpServers": {\n    "other": {} // mine, do not touch\n  }\n}\n'],
  ['a comment behind a trailing comma', '{\n  "mcpServers": {\n    "other": {}, // mine\n  }\n}\n'],
  ['a comment between value and comma', '{\n  "mcpServers": {\n    "other": {} /* mine */ ,\n  }\n}\n'],
  ['a comment on a line of its own at the end', '{\n  "mcpServers": {\n    "other": {}\n    // the end\n  }\n}\n'],
  ['comma first', '{\n  "mcpServers": {\n      "a": {}\n    , "b": {}\n  }\n}\n'],
  ['comments all over', '// top\n{ /* a */ "mcpServers" /* b */ : /* c */ { // d\n    // e\n    "other": {} // f\n    // g\n  } // h\n} // i\n'],
  ['spaces at line ends', '{  \n  "mcpServers": {   \n    "other": {}   \n  }   \n}   \n'],
  ['one line', '{ "mcpServers": { "other": { "command": "x" } } }'],
  ['one line without spaces', '{"mcpServers":{"other":{"command":"x"}}}\n'],
  ['one line with a trailing comma', '{ "mcpServers": { "other": {}, }, }'],
  ['the brace on the last server\'s line', '{\n  "mcpServers": {\n    "other": {} }\n}\n'],
  ['unicode', '{\n  "grüße": "日本語 👩‍👩‍👧 \\u202e",\n  "mcpServers": {\n    "ключ": { "command": "é" }\n  }\n}\n'],
  ['nested lists', '{\n  "a": [[1, [2, {"mcpServers": {"belfry": 1}}]], []],\n  "mcpServers": {\n    "other": { "args": ["a", ["b"]] }\n  }\n}\n'],
  ['an empty map', '{\n  "mcpServers": {}\n}\n'],
  ['an empty map on one line', '{"mcpServers":{}}'],
  ['an empty map with a comment', '{\n  "mcpServers": {\n    // none yet\n  }\n}\n'],
];

describe('adding and removing', () => {
  test.each(inverse)('%s', (_label, text) => {
    const added = settings.add(text, place, 'belfry', entry);
    expect(parsedStrictly(added)).toMatchObject({ mcpServers: { belfry: entry } });
    expect(settings.remove(added, place, 'belfry')).toBe(text);
  });

  test.each([
    ['', '{\n  "mcpServers": {\n    "belfry": {\n      "command": "/b",\n      "args": ["x"]\n    }\n  }\n}\n'],
    ['{}', '{\n  "mcpServers": {\n    "belfry": {\n      "command": "/b",\n      "args": ["x"]\n    }\n  }\n}'],
    ['{"a":1}', '{"a":1,"mcpServers":{"belfry":{"command":"/b","args":["x"]}}}'],
    ['{ "a": 1 }', '{ "a": 1, "mcpServers": { "belfry": { "command": "/b", "args": ["x"] } } }'],
    ['{\n\t"a": 1, // keep\n}\n', '{\n\t"a": 1, // keep\n\t"mcpServers": {\n\t\t"belfry": {\n\t\t\t"command": "/b",\n\t\t\t"args": ["x"]\n\t\t}\n\t},\n}\n'],
    ['{\n  "a": 1 // keep\n}', '{\n  "a": 1, // keep\n  "mcpServers": {\n    "belfry": {\n      "command": "/b",\n      "args": ["x"]\n    }\n  }\n}'],
    ['// only a comment', '// only a comment\n{\n  "mcpServers": {\n    "belfry": {\n      "command": "/b",\n      "args": ["x"]\n    }\n  }\n}\n'],
    ['{ "a": 1 // end\n}', '{ "a": 1, // end\n  "mcpServers": {\n    "belfry": {\n      "command": "/b",\n      "args": ["x"]\n    }\n  }\n}'],
  ])('%j becomes what its own layout asks for', (text, expected) => {
    expect(settings.add(text, place, 'belfry', { command: '/b', args: ['x'] })).toBe(expected);
  });

  test.each([
    ['first of two', '{\n  "mcpServers": {\n    "belfry": {}, // ours\n    "b": {}\n  }\n}', '{\n  "mcpServers": {\n    // ours\n    "b": {}\n  }\n}'],
    ['below a comment that it does not own', '{\n  "mcpServers": {\n    // about b\n    "belfry": {}, "b": {}\n  }\n}', '{\n  "mcpServers": {\n    // about b\n    "b": {}\n  }\n}'],
    ['last on the brace\'s line below a comment', '{\n  "mcpServers": { "a": {}, // about a\n    "belfry": {} }\n}', '{\n  "mcpServers": { "a": {} // about a\n    }\n}'],
    ['in the middle of a line', '{"mcpServers":{"a":1,"belfry":{},"b":2}}', '{"mcpServers":{"a":1,"b":2}}'],
    ['first on a line', '{"mcpServers":{"belfry":{},"b":2}}', '{"mcpServers":{"b":2}}'],
    ['before a comma with a comment', '{"mcpServers":{"belfry":{} /* c */ ,"b":2}}', '{"mcpServers":{/* c */ "b":2}}'],
    ['alone, with a trailing comma', '{"mcpServers":{\n"belfry":{},\n}}', '{"mcpServers":{}}'],
  ])('removed where others changed the file: %s', (_label, text, expected) => {
    expect(settings.remove(text, place, 'belfry')).toBe(expected);
    parsedStrictly(expected);
  });

  test('only what differs is updated: the owner\'s own values stay', () => {
    const text = '{\n  "mcpServers": {\n    "belfry": { "command": "/old", "env": { "A": "1" }, "args": ["--client=cursor"] } // ours\n  }\n}\n';
    expect(settings.update(text, place, 'belfry', { command: '/new', args: ['--client=cursor'] })).toBe(text.replace('/old', '/new'));
    const missing = '{\n  "mcpServers": {\n    "belfry": {\n      "command": "/old"\n    }\n  }\n}\n';
    expect(settings.update(missing, place, 'belfry', { command: '/new', args: ['x'] })).toBe('{\n  "mcpServers": {\n    "belfry": {\n      "command": "/new",\n      "args": ["x"]\n    }\n  }\n}\n');
    expect(settings.update(text, place, 'belfry', { command: '/old' })).toBe(text);
  });
});

describe('refused with a sentence', () => {
  const trouble = (work: () => unknown): SettingsTrouble => {
    try {
      work();
    } catch (error) {
      if (error instanceof SettingsTrouble) return error;
      throw error;
    }
    throw new Error('nothing was refused');
  };
  test.each([
    ['cut off', '{\n  "mcpServers": {\n', 'unreadable', 'Line 3 of the file is not valid JSON.'],
    ['not JSON', 'mcpServers = 1', 'unreadable', 'Line 1 of the file is not valid JSON.'],
    ['two values', '{}\n{}', 'unreadable', 'Line 2 of the file is not valid JSON.'],
    ['a comma too many', '{"a":1,,"b":2}', 'unreadable', 'Line 1 of the file is not valid JSON.'],
    ['a missing comma', '{\n"a":1\n"b":2}', 'unreadable', 'Line 3 of the file is not valid JSON.'],
    ['an open comment', '{} /* ', 'unreadable', 'Line 1 of the file is not valid JSON.'],
    ['nested too deep', `{"a":${'['.repeat(200)}${']'.repeat(200)}}`, 'unreadable', 'The file is nested more than 100 levels deep.'],
    ['nested far too deep', '['.repeat(1_000_000), 'unreadable', 'The file is nested more than 100 levels deep.'],
    ['a list', '[]', 'cant-write', 'The file holds no JSON object.'],
    ['a map that is none', '{"mcpServers":[]}', 'cant-write', 'In the file, mcpServers is not an object.'],
    ['a null map', '{"mcpServers":null}', 'cant-write', 'In the file, mcpServers is not an object.'],
    ['two maps', '{\n"mcpServers":{},\n"mcpServers":{}}', 'cant-write', 'Line 3 of the file has the key "mcpServers" a second time.'],
    ['a map a second time, spelled otherwise', '{"mcpServers":{},"mcp\\u0053ervers":{}}', 'cant-write', 'Line 1 of the file has the key "mcpServers" a second time.'],
  ])('%s', (_label, text, kind, message) => {
    const add = trouble(() => settings.add(text, place, 'belfry', entry));
    expect([add.kind, add.message]).toEqual([kind, message]);
    expect(trouble(() => settings.servers(text)).message).toBe(message);
  });
  test('our key twice', () => {
    const text = '{"mcpServers":{"belfry":{},\n"belfry":{}}}';
    expect(trouble(() => settings.add(text, place, 'belfry', entry)).message).toBe('Line 2 of the file has the key "belfry" a second time.');
    expect(trouble(() => settings.remove(text, place, 'belfry')).message).toBe('Line 2 of the file has the key "belfry" a second time.');
  });
  test('a key that is there is never written over', () => {
    expect(trouble(() => settings.add('{"mcpServers":{"belfry":7}}', place, 'belfry', entry)).message).toBe('The file has an entry "belfry" already.');
  });
});

/** Random JSONC in random layouts: values, comments, blanks, trailing commas, line endings. */
function randomJsonc(random: Random): { readonly text: string; readonly hasMap: boolean } {
  const eol = random.pick(['\n', '\r\n']);
  const blank = (): string => {
    let text = '';
    for (let count = random.between(0, 3); count > 0; count -= 1) {
      text += random.pick([' ', '  ', '\t', eol, eol, '/* c, } " */', `// { , " x${eol}`]);
    }
    return text;
  };
  const word = (): string => random.pick(['a', 'b é', '日本', 'belfry-mcp', 'x"y', '\\', 'mcpServers', '', '//', '/*', '__proto__']);
  const value = (depth: number): string => {
    const kind = depth > 3 ? random.between(0, 2) : random.between(0, 4);
    if (kind === 0) return JSON.stringify(word());
    if (kind === 1) return random.pick(['0', '-1.5e+3', '12345678901234567890', 'true', 'null']);
    if (kind === 2) return random.pick(['{}', '[]', `{${blank()}}`, `[${blank()}]`]);
    if (kind === 3) return list('[', ']', () => value(depth + 1));
    return object(depth + 1, []);
  };
  const list = (open: string, close: string, item: () => string, more: readonly string[] = []): string => {
    const items = [...Array.from({ length: random.between(0, 3) }, item), ...more];
    const tail = items.length > 0 && random.chance(0.3) ? `${blank()},` : '';
    return `${open}${blank()}${items.map((text) => `${text}${blank()}`).join(`,${blank()}`)}${tail}${blank()}${close}`;
  };
  const object = (depth: number, more: readonly string[]): string => {
    let number = 0;
    return list('{', '}', () => `${JSON.stringify(`${word()}${(number += 1)}`)}${blank()}:${blank()}${value(depth)}`, more);
  };
  const map = random.chance(0.7) ? [`"mcpServers"${blank()}:${blank()}${object(1, [])}`] : [];
  return { text: `${blank()}${object(0, map)}${blank()}`, hasMap: map.length > 0 };
}

test('in random files every byte outside our entry and its comma stays', () => {
  const seed = Number(process.env.BELFRY_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = new Random(seed);
  for (let round = 0; round < 1500; round += 1) {
    const { text, hasMap } = randomJsonc(random);
    const about = `seed ${seed}, round ${round}: ${JSON.stringify(text)}`;
    const added = settings.add(text, place, 'belfry', entry);
    // What was there is still there, in its order: the new text is the old one with text put in.
    expect(isSubsequence(text, added), about).toBe(true);
    const removed = settings.remove(added, place, 'belfry');
    // The map that was made for us stays, since others may rely on it by now; without it the text is the old one.
    const back = hasMap ? removed : root.remove(removed, [], 'mcpServers');
    // Only an object that our entry was the first to be in may lose blanks.
    const emptyBefore = (hasMap ? settings : root).servers(text).length === 0;
    if (emptyBefore) expect(back.replaceAll(/\s/gu, ''), about).toBe(text.replaceAll(/\s/gu, ''));
    else expect(back, about).toBe(text);
  }
});

function isSubsequence(part: string, whole: string): boolean {
  let at = 0;
  for (const char of whole) if (char === part[at]) at += 1;
  return at >= Array.from(part).length;
}
