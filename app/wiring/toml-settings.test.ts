import { describe, expect, test } from 'vitest';
import { Random } from '../testing/random.ts';
import { parseToml, tomlValue } from './toml.ts';
import { tomlSettings, tomlTable } from './toml-settings.ts';
import { SettingsTrouble } from './trouble.ts';

const place = ['mcp_servers'];
const settings = tomlSettings(place);
const entry = { command: "/Applications/It's here.app/Contents/MacOS/belfry-mcp", args: ['--client=codex'] };
const table = '[mcp_servers.belfry]\ncommand = "/Applications/It\'s here.app/Contents/MacOS/belfry-mcp"\nargs = ["--client=codex"]\n';

describe('adding and removing', () => {
  test.each([
    ['nothing', ''],
    ['only blanks', '\n\n'],
    ['only a comment', '# mine\n'],
    ['settings of the root', 'model = "x"\napproval = "never" # keep\n'],
    ['another server before', '[mcp_servers.other]\ncommand = "npx"\nargs = ["-y", "x"]\n[mcp_servers.other.env]\nTOKEN = "secret"\n'],
    ['a blank line and a comment at the end', 'model = "x"\n\n# the end\n\n'],
    ['tabs and blanks', '\tmodel\t=\t"x"  \n  [a]  \n\tb = 1\n'],
    ['CRLF', 'model = "x"\r\n\r\n[mcp_servers.other]\r\ncommand = "y"\r\n'],
    ['servers by dotted keys', 'mcp_servers.other.command = "x"\n'],
    ['a table of servers', '[mcp_servers]\nother = { command = "x" }\n'],
    ['tables in a list', '[[history]]\na = 1\n[[history]]\n[history.x]\ny = 1\n'],
    ['quoted keys', '["mcp_servers"."a.b"]\n\'command\' = \'x\'\n'],
    ['unicode', '"grüße" = "日本語 👩‍👩‍👧"\n'],
    ['text that looks like ours', 'note = """\n[mcp_servers.belfry]\ncommand = "x"\n"""\n'],
  ])('%s', (_label, text) => {
    const added = settings.add(text, place, 'belfry', entry);
    expect(added.startsWith(text)).toBe(true);
    expect(JSON.parse(JSON.stringify(tomlValue(parseToml(added).root)))).toMatchObject({ mcp_servers: { belfry: entry } });
    expect(settings.remove(added, place, 'belfry')).toBe(text);
  });

  test('a file without a final newline gets one, and an empty line before our table', () => {
    expect(settings.add('model = "x"', place, 'belfry', entry)).toBe(`model = "x"\n\n${table}`);
    expect(settings.add('a = 1\r\nb = 2', place, 'belfry', { command: 'x' })).toBe('a = 1\r\nb = 2\r\n\r\n[mcp_servers.belfry]\r\ncommand = "x"\r\n');
    expect(settings.add('', place, 'belfry', entry)).toBe(table);
  });

  test.each([
    ['with what others put below it', `a = 1\n\n${table}enabled = true # theirs now\n\n# about b\n[b]\n`, 'a = 1\n\n# about b\n[b]\n'],
    ['with its sub-tables', `a = 1\n\n${table}\n[mcp_servers.belfry.env]\nA = "1"\n\n[[mcp_servers.belfry.tools]]\nb = 1\n\n[z]\n`, 'a = 1\n\n[z]\n'],
    ['as an inline table', '[mcp_servers]\na = {}\nbelfry = { command = "x" } # ours\n# keep\nb = {}\n', '[mcp_servers]\na = {}\n# keep\nb = {}\n'],
    ['as dotted keys', 'mcp_servers.belfry.command = "x"\n# keep\nmcp_servers.belfry.args = []\nmcp_servers.b.command = "y"\n', '# keep\nmcp_servers.b.command = "y"\n'],
    ['over several lines', '[mcp_servers.belfry]\nargs = [\n  "a", # one\n]\ncommand = "x"\n[b]', '[b]'],
    ['without a final newline', 'a = 1\n\n[mcp_servers.belfry]\ncommand = "x"', 'a = 1\n'],
    ['under a quoted header', '[ "mcp_servers" . \'belfry\' ]\ncommand = "x"\n', ''],
  ])('removed %s', (_label, text, expected) => {
    expect(settings.remove(text, place, 'belfry')).toBe(expected);
  });

  test.each([
    ['the command', '[mcp_servers.belfry]\ncommand = \'/old\' # ours\nenabled = true\nargs = ["a"]\n', '[mcp_servers.belfry]\ncommand = "/new" # ours\nenabled = true\nargs = ["a"]\n'],
    ['a missing list', '[mcp_servers.belfry] # c\ncommand = "/old"\n[z]\n', '[mcp_servers.belfry] # c\nargs = ["a"]\ncommand = "/new"\n[z]\n'],
    ['inside an inline table', 'mcp_servers = { belfry = { command = "/old", args = ["a"], x = 1 } }', 'mcp_servers = { belfry = { command = "/new", args = ["a"], x = 1 } }'],
    ['dotted keys', '[mcp_servers]\nbelfry.command = "/old"\nbelfry.args = [\n"b"]\n', '[mcp_servers]\nbelfry.command = "/new"\nbelfry.args = ["a"]\n'],
  ])('updated: %s', (_label, text, expected) => {
    expect(settings.update(text, place, 'belfry', { command: '/new', args: ['a'] })).toBe(expected);
  });
});

describe('refused with a sentence', () => {
  test.each([
    ['mcp_servers = { a = { command = "x" } }\n', 'In the file, mcp_servers is an inline table.'],
    ['mcp_servers = 1', 'In the file, mcp_servers is not a table.'],
    ['[[mcp_servers]]\n', 'In the file, mcp_servers is not a table.'],
    ['[mcp_servers.belfry]\n', 'The file has a table "belfry" already.'],
    ['[mcp_servers.belfry]\n[mcp_servers.belfry]\n', 'Line 2 of the file is not valid TOML: "belfry" is set twice.'],
    ['[mcp_servers\n', 'Line 1 of the file is not valid TOML: "]" is missing.'],
  ])('adding to %j', (text, message) => {
    expect(() => settings.add(text, place, 'belfry', entry)).toThrow(message);
  });
  test('what stands inside an inline table is not taken out, and not added to', () => {
    const text = 'mcp_servers = { belfry = { command = "/old" }, b = {} }\n';
    expect(() => settings.remove(text, place, 'belfry')).toThrow(new SettingsTrouble('cant-write', 'In the file, "belfry" is part of an inline table.'));
    expect(() => settings.update(text, place, 'belfry', entry)).toThrow('In the file, "belfry" is not a table of its own.');
  });
});

test('a path with every awkward character comes back', () => {
  const command = '/a b/it\'s "q" \\ \t\u007f\u0001 日\u2028.app/belfry-mcp';
  const text = tomlTable([...place, 'a.b'], { command, args: [command] }, '\n');
  expect(JSON.parse(JSON.stringify(tomlValue(parseToml(text).root)))).toEqual({ mcp_servers: { 'a.b': { command, args: [command] } } });
});

/** Random TOML of statements that never clash: each table and key has its own number. */
function randomToml(random: Random): string {
  const eol = random.pick(['\n', '\r\n']);
  let number = 0;
  const key = (): string => random.pick(['a', 'mcp_servers', '"b c"', "'d.e'", 'é', '-', '1']).replace('é', '"é"').replace(/(["']?)$/u, (quote) => `${(number += 1)}${quote}`);
  const value = (depth: number): string => {
    const kind = random.between(0, depth > 2 ? 4 : 6);
    if (kind === 0) return random.pick(['"x"', String.raw`"\"]\\"`, "'#'", `"""${eol}[mcp_servers.belfry]${eol}"""`, "'''x'''"]);
    if (kind === 1) return random.pick(['1', '-0.5e3', '0xff', 'true', 'nan']);
    if (kind === 2) return random.pick(['1979-05-27', '1979-05-27 07:32:00', '07:32:00.5']);
    if (kind === 3) return '[]';
    if (kind === 4) return '{}';
    const items = Array.from({ length: random.between(0, 3) });
    if (kind === 5) return `[${items.map(() => `${random.pick(['', ' ', eol, `# ]${eol}`])}${value(depth + 1)}`).join(',')}${random.pick(['', ' ', eol])}]`;
    return `{${items.map(() => ` ${key()} = ${value(depth + 1)}`).join(',')} }`;
  };
  const lines = Array.from({ length: random.between(0, 10) }, () => {
    const kind = random.between(0, 6);
    if (kind === 0) return random.pick(['', '  ', '# "comment', '\t# [x]']);
    if (kind === 1) return `[${random.pick(['', 'mcp_servers.', '"mcp_servers" . '])}${key()}]${random.pick(['', ' # c'])}`;
    if (kind === 2) return `[[${key()}]]`;
    return `${random.pick(['', '  '])}${key()}${random.chance(0.2) ? `.${key()}` : ''} = ${value(0)}${random.pick(['', ' ', ' # c'])}`;
  });
  return lines.join(eol) + (random.chance(0.7) && lines.length > 0 ? eol : '');
}

test('in random files every byte outside our table stays', () => {
  const seed = Number(process.env.BELFRY_SEED ?? Math.floor(Math.random() * 2 ** 31));
  const random = new Random(seed);
  for (let round = 0; round < 1500; round += 1) {
    const text = randomToml(random);
    const about = `seed ${seed}, round ${round}: ${JSON.stringify(text)}`;
    const added = settings.add(text, place, 'belfry', entry);
    expect(added.startsWith(text), about).toBe(true);
    // Others go on writing behind our table.
    const more = random.chance(0.5) ? '# theirs\n[theirs]\nx = 1\n' : '';
    const back = settings.remove(added + more, place, 'belfry');
    const newline = text === '' || text.endsWith('\n') ? '' : text.includes('\r\n') ? '\r\n' : '\n';
    expect(back, about).toBe(text + newline + more);
  }
});
