import { z } from 'zod';

/** The first line of a peer, with both versions (architecture 6). Longer lines are refused. */
export const MAX_HANDSHAKE_BYTES = 64 * 1024;
export const HANDSHAKE_MS = 5000;
/** Peers that have not said their first line; one more, and the one that waits longest goes. */
export const MAX_UNANSWERED = 16;
export const PROTOCOL = 1;

const versions = z.looseObject({ protocol: z.number().int(), version: z.string() });
const hello = z.discriminatedUnion('mode', [
  z.looseObject({
    protocol: z.number().int(),
    version: z.string().max(64),
    mode: z.literal('mcp'),
    label: z.string().max(4096).nullish(),
    channel: z.boolean().optional(),
  }),
  z.looseObject({
    protocol: z.number().int(),
    version: z.string().max(64),
    mode: z.literal('command'),
    argv: z.array(z.string().max(65_536)).max(4096),
  }),
]);

export type Hello = z.infer<typeof hello>;

/**
 * What the engine says to a first line that it takes: `ok` and, for a helper that can read it, both of its own versions.
 * @param version of Belfry
 */
export const welcomeOf = (version: string): string => `ok ${JSON.stringify({ protocol: PROTOCOL, version })}\n`;

/** Which of the two is behind decides what helps: a running app that was replaced, or a client that holds an old helper. */
function otherAge(helper: number, version: string): string {
  return helper > PROTOCOL
    ? `The Belfry that runs is older than this helper (${version}): quit Belfry and open it again.`
    : `This helper (${version}) is too old for the Belfry that runs: start the client again, or set it up again in Belfry.`;
}

/** A sentence for a line that is no handshake or comes from another age. */
export function parseHello(line: string): Hello | { error: string } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { error: 'The first line must be one JSON object that says what this peer wants.' };
  }
  // Before anything else of it is looked at: another age may say other things.
  const age = versions.safeParse(value);
  if (age.success && age.data.protocol !== PROTOCOL) return { error: otherAge(age.data.protocol, plainText(age.data.version)) };
  const parsed = hello.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { error: `The first line is not understood: ${issue?.path.join('.') || 'mode'} is missing or has the wrong type.` };
  }
  return parsed.data;
}

/** It goes to a terminal and into a log, and a peer may say anything. */
const plainText = (version: string): string => version.replace(/[^\w.+-]/g, '?').slice(0, 32);
