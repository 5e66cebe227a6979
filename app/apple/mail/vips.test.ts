import { writeFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { encodePlist } from '../../testing/binary-plist.ts';
import { tempFolder } from '../../testing/temp.ts';
import { readVips } from './vips.ts';

const XML = `<?xml version="1.0" encoding="UTF-8"?>
<!DOCTYPE plist PUBLIC "-//Apple//DTD PLIST 1.0//EN" "http://www.apple.com/DTDs/PropertyList-1.0.dtd">
<plist version="1.0"><dict>
  <key>1</key><dict><key>EmailAddresses</key><array><string>ada@x.example</string><string>a&amp;l@x.example</string></array><key>Name</key><string>Ada &#76;ovelace</string></dict>
  <key>2</key><dict><key>Name</key><string></string><key>EmailAddresses</key><array><string>bob@x.example</string></array></dict>
  <key>3</key><dict><key>Name</key><string>Nobody</string><key>EmailAddresses</key><array/></dict>
</dict></plist>`;
const READ = [{ name: 'Ada Lovelace', addresses: ['ada@x.example', 'a&l@x.example'] }, { name: null, addresses: ['bob@x.example'] }];

/** Data-formats, envelope-index 6: a dictionary identifier -> { Name, EmailAddresses }. */
test.each<[string, string | Buffer, readonly unknown[]]>([
  ['XML', XML, READ],
  ['binary', encodePlist({ 1: { Name: 'Ada Lovelace', EmailAddresses: ['ada@x.example', 'a&l@x.example'] }, 2: { Name: '', EmailAddresses: ['bob@x.example'] }, 3: 'odd', 4: { Name: 'Nobody' } }), READ],
  ['binary, of another form', encodePlist(['ada@x.example']), []],
  ['torn', Buffer.from('bplist00garbage'), []],
  ['no list at all', 'ada@x.example', []],
])('%s', (_form, content, expected) => {
  using folder = tempFolder();
  writeFileSync(folder.at('VIPs.plist'), content);
  expect(readVips(folder.at('Envelope Index'))).toEqual(expected);
});

test('no file: no VIPs', () => {
  using folder = tempFolder();
  expect(readVips(folder.at('Envelope Index'))).toEqual([]);
});
