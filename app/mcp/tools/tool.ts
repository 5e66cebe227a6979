import { z } from 'zod';
import type { StoreKind } from '../../apple/occurrence.ts';
import { StoreError } from '../../apple/reader.ts';
import { ErrorCode, EventsError } from '../../events/errors.ts';
import type { Principal } from '../../events/verdict.ts';
import { issueSentence } from '../issue-sentence.ts';
import type { Session } from '../session.ts';

/** A call as a tool sees it. */
export interface ToolCall {
  readonly session: Session;
  readonly principal: Principal;
  readonly signal: AbortSignal;
  /** Null where the client asked for no progress. Values must rise. */
  readonly progress: ((progress: number, total: number, message: string) => void) | null;
}

/** A sentence that a model can act on, and the same as data. */
export type ToolAnswer =
  | { readonly sentence: string; readonly value: Readonly<Record<string, unknown>> }
  | { readonly error: string };

export interface Tool<I extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly title: string;
  readonly description: string;
  readonly input: I;
  readonly output: z.ZodObject;
  readonly annotations: { readonly readOnlyHint: boolean; readonly destructiveHint: boolean; readonly idempotentHint: boolean; readonly openWorldHint: boolean };
  /** Listed only for clients that the owner let in. */
  readonly granted: boolean;
  /** The store that it reads: listed only for clients that the owner let read it. */
  readonly reads?: StoreKind;
  /** Where in its value stand the items that were read; absent: it reads one. */
  readonly lists?: string;
  /** It writes texts: listed only for clients that the owner let write. */
  readonly writes?: boolean;
  /** Listed only for clients that the owner also lets search what they read. */
  readonly searches?: boolean;
  run(args: z.output<I>, call: ToolCall): ToolAnswer | Promise<ToolAnswer>;
}

/** Longest wait, in seconds: clients give up on a call after 60. */
export const MAX_WAIT = 50;
/** Calls of one connection that may wait at once. */
export const MAX_WAITS = 8;

/** Keeps the input's type inside one tool; outside all tools are alike. */
export const tool = <I extends z.ZodType>(value: Tool<I>): Tool => value as unknown as Tool;

export const READS = { readOnlyHint: true, destructiveHint: false, idempotentHint: true, openWorldHint: false } as const;

export const watchId = z.string().regex(/^[0-9a-f]{8}$/, 'must be the id of a watch: 8 hex digits');
export const NO_WATCH = 'watch: no watch of this client has this id. list_watches shows yours.';

/** The sentence is in the value too: some clients give their model nothing but the structured content. */
const note = z.string().describe('What it means and what to do next.');

/** As `tools/list` shows it. */
export function describeTool({ name, title, description, input, output, annotations }: Tool): Record<string, unknown> {
  return { name, title, description, inputSchema: z.toJSONSchema(input, { io: 'input' }), outputSchema: z.toJSONSchema(output.extend({ note })), annotations };
}

/**
 * Runs a tool. Bad arguments and refusals are answers that the model reads, not protocol errors.
 * @param withdrawn asked once there is an answer: why it must not be given any more, or null
 */
export async function runTool(each: Tool, args: unknown, call: ToolCall, withdrawn: () => string | null): Promise<Record<string, unknown>> {
  const parsed = each.input.safeParse(args ?? {});
  if (!parsed.success) return failure(issueSentence(parsed.error.issues[0]!, 'arguments', Object.keys((each.input as z.ZodObject).shape)));
  try {
    const answer = await each.run(parsed.data, call);
    if ('error' in answer) return failure(answer.error);
    const refused = withdrawn();
    if (refused !== null) return failure(refused);
    const { sentence, value } = answer;
    if (each.reads !== undefined) noteReading(each, each.reads, value, call);
    return { content: [{ type: 'text', text: sentence }, { type: 'text', text: JSON.stringify(value) }], structuredContent: { note: sentence, ...value } };
  } catch (error) {
    if (error instanceof EventsError) return failure(eventsSentence(error));
    if (error instanceof StoreError) return failure(UNREADABLE);
    call.session.backend.fault(each.name, error);
    return failure('Belfry met an unexpected fault. Its log says more.');
  }
}

/** Who read how much of which store, for the owner. */
function noteReading({ name, lists }: Tool, store: StoreKind, value: Readonly<Record<string, unknown>>, { session, principal }: ToolCall): void {
  const items = lists === undefined ? null : value[lists];
  session.backend.reading.noted(principal, store, name, Array.isArray(items) ? items.length : 1, typeof value['row'] === 'number' ? value['row'] : undefined);
}

export const UNREADABLE = 'The store cannot be read at the moment. Try again in a minute; the owner can see why in Belfry.';

const failure = (text: string) => ({ content: [{ type: 'text', text }], isError: true });

function eventsSentence(error: EventsError): string {
  if (error.code === ErrorCode.resourceExhausted) return `There is a limit: ${String(error.data?.['limit'])} may be at most ${String(error.data?.['max'])}. Stop a watch that is no longer needed.`;
  if (error.code === ErrorCode.internal) return UNREADABLE;
  return error.message;
}
