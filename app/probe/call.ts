import { ProbeFailure } from './failure.ts';
import { refusalOf } from './refusal.ts';
import type { Draft } from './report.ts';
import type { Action } from './request.ts';
import type { Session } from './session.ts';

/** Errors by which a server says that it ran nothing: no such method, wrong arguments, no request. */
const REJECTED = new Set([-32600, -32601, -32602]);

/** One call of one tool. What ran and failed is told from what was refused before it ran. */
export async function call(session: Session, action: Extract<Action, { do: 'call' }>, draft: Draft<'call'>): Promise<void> {
  draft.tool = action.tool;
  const answer = await session.answer('tools/call', { name: action.tool, arguments: action.args });
  if ('error' in answer) {
    const refusal = refusalOf(answer.error, { isBelfry: session.options.isBelfry, method: 'tools/call' });
    if (REJECTED.has(answer.error.code)) throw new ProbeFailure('TOOL_REQUEST_REJECTED', refusal.message);
    throw refusal.code === 'SERVER_ERROR' ? new ProbeFailure('CALL_FAILED', refusal.message) : refusal;
  }
  const { content, structuredContent, isError } = session.resultOf(answer, 'tools/call');
  draft.content = Array.isArray(content) ? content : null;
  draft.structuredContent = structuredContent ?? null;
  draft.isError = isError === true;
  if (draft.isError) throw new ProbeFailure('TOOL_ERROR', 'The tool ran and reported a failure.');
}
