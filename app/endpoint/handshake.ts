import { z } from 'zod';

/** The first line of a peer, with both versions (architecture 6). Longer lines are refused. */
export const MAX_HANDSHAKE_BYTES = 64 * 1024;
export const HANDSHAKE_MS = 5000;
/** Peers that have not said their first line; one more, and the one that waits longest goes. */
export const MAX_UNANSWERED = 16;
export const PROTOCOL = 1;

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

/** A sentence for a line that is no handshake or comes from another age. */
export function parseHello(line: string): Hello | { error: string } {
  let value: unknown;
  try {
    value = JSON.parse(line);
  } catch {
    return { error: 'The first line must be one JSON object that says what this peer wants.' };
  }
  const parsed = hello.safeParse(value);
  if (!parsed.success) {
    const issue = parsed.error.issues[0];
    return { error: `The first line is not understood: ${issue?.path.join('.') || 'mode'} is missing or has the wrong type.` };
  }
  if (parsed.data.protocol !== PROTOCOL) {
    return { error: `This helper speaks version ${parsed.data.protocol} of the helper protocol and the engine version ${PROTOCOL}. Update Belfry and start the client again.` };
  }
  return parsed.data;
}
