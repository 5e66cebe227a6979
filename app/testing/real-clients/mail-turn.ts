import { expect } from 'vitest';
import { findCanary } from '../canary.ts';
import { ADA, MAIL, mailArgs, ring } from '../conformance-kit.ts';
import type { World } from '../world.ts';
import type { EmptyHome, Outcome } from './empty-home.ts';
import type { Call, ModelStandIn } from './model-stand-in.ts';

/** A model that sets a watch, waits for mail, and confirms what came. @param named how the client calls our tools. */
export const mailScript = (named: (tool: string) => string): Call[] => [
  { tool: named('watch_events'), input: { event: MAIL, arguments: mailArgs } },
  { tool: named('wait_for_events'), input: { timeoutSeconds: 50 } },
  { tool: named('check_inbox'), input: (results) => ({ confirm: valueIn(results.at(-1)!)['batch'] as string }) },
];

/**
 * Lets a mail arrive once the model waits, and looks at what came before the model. The last three calls of the
 * stand-in's script are those of `mailScript`; @param before how many stand before them.
 */
export async function playMailTurn(world: World, home: EmptyHome, standIn: ModelStandIn, run: Promise<Outcome>, before = 0): Promise<Outcome> {
  await Promise.race([standIn.called(before + 2), run.then((outcome) => expect.fail(`The client ended before its model waited: ${JSON.stringify(outcome)} ${standIn.troubles.join('; ')}`))]);
  await ring(world, 'Rota for Friday');
  const outcome = await run;
  expect(outcome, outcome.stderr).toMatchObject({ code: 0 });
  expect(standIn.troubles).toEqual([]);
  const [watched, waited, confirmed] = standIn.results.slice(before).map(valueIn);
  expect(watched).toMatchObject({ isNew: true, waitingForOwner: false });
  expect(waited).toMatchObject({ items: [{ event: MAIL, gone: false, data: { subject: 'Rota for Friday', from: ADA } }] });
  expect(confirmed).toMatchObject({ confirmed: 1, items: [] });
  // The envelope came before the model, and nothing else of the mail.
  expect(findCanary(standIn.heard)).toBeNull();
  await nobodyStays(world, home);
  return outcome;
}

/** Neither a process nor a connection outlives the client. */
export async function nobodyStays(world: World, home: EmptyHome): Promise<void> {
  await expect.poll(() => [...world.engine.peers].length, { timeout: 20_000 }).toBe(0);
  await expect.poll(() => home.living(), { timeout: 20_000 }).toEqual([]);
}

/** The structured part of a tool's result, however the client wrapped it for its model. */
const valueIn = (text: string): Record<string, unknown> => JSON.parse(text.slice(text.indexOf('{'), text.lastIndexOf('}') + 1)) as Record<string, unknown>;
