import { expect, expectTypeOf, test } from 'vitest';
import { shell, wiringPreview, wiringRow, type WiringPreview as ShownPreview, type WiringRow as ShownRow } from '../contract/shell.ts';
import { outcome, type ContractOutcome } from '../contract/values.ts';
import { listWirings, WiringDesk, type WiringEnv, type WiringOutcome, type WiringPreview, type WiringRow } from '../wiring/wiring.ts';
import { tempFolder } from './temp.ts';
import { mkdirSync } from 'node:fs';

/** Wiring imports nothing of the contract; what it gives still has to be what the page is promised. */
test('values of wiring are values of the contract', () => {
  expectTypeOf<WiringRow>().toExtend<ShownRow>();
  expectTypeOf<WiringPreview>().toExtend<ShownPreview>();
  expectTypeOf<WiringOutcome>().toExtend<ContractOutcome>();

  using home = tempFolder();
  mkdirSync(home.at('.cursor'));
  const env: WiringEnv = { home: home.path, platform: 'darwin', applications: [], tools: [], shim: '/Applications/Belfry.app/Contents/MacOS/belfry-mcp', now: () => 0 };
  const rows = listWirings(env);
  expect(rows.map((row) => wiringRow.strict().parse(row))).toEqual(rows);
  const desk = new WiringDesk();
  const offered = desk.preview(env, 'cursor', 'add');
  const refused = desk.preview(env, 'goose', 'add');
  for (const preview of [offered, refused]) expect(wiringPreview.parse(preview)).toEqual(preview);
  if (!offered.ok) throw new Error(offered.message);
  expect(shell.calls.wiring.apply.params.parse({ token: offered.token })).toEqual({ token: offered.token });
  for (const made of [desk.apply(env, offered.token), desk.apply(env, offered.token)]) expect(outcome.parse(made)).toEqual(made);
});
