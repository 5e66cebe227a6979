import { ProtocolError, type Server } from '@modelcontextprotocol/server';
import { ErrorCode } from '../../events/errors.ts';
import type { Principal } from '../../events/verdict.ts';
import { accessOf, type Backend, type Session } from '../session.ts';
import { listEventTypes } from './event-types.ts';
import { mailAccounts, mailAttachment, mailGet, mailLinks, mailList, mailMailboxes } from './mail-tools.ts';
import { messagesChats, messagesGet, messagesList } from './messages-tools.ts';
import { readingRefusal } from './reading.ts';
import { checkInbox, waitForEvents } from './inbox-tools.ts';
import { mailDraft, messagesReply, replyStatus } from './reply-tools.ts';
import { requestAccess } from './request-access.ts';
import { mailSearch, messagesSearch } from './search-tools.ts';
import { describeTool, runTool, type Tool } from './tool.ts';
import { listWatches, stopWatch, watchEvents } from './watch-tools.ts';

/** In the order in which a model needs them; the order of `tools/list` is stable. */
export const TOOLS: readonly Tool[] = [
  listEventTypes, watchEvents, waitForEvents, checkInbox, listWatches, stopWatch, requestAccess,
  mailGet, mailList, mailAccounts, mailMailboxes, mailLinks, mailAttachment,
  messagesGet, messagesList, messagesChats,
  messagesReply, mailDraft, replyStatus,
  mailSearch, messagesSearch,
];
const descriptions = new Map(TOOLS.map((each) => [each, describeTool(each)]));

/** What a client sees now: everything only once the owner let it in, and what reads or searches a store only once they let it do that. */
export function listedTools(backend: Backend, principal: Principal): readonly Tool[] {
  const isOpen = accessOf(backend, principal) === 'open';
  const { reading, writing } = backend;
  return TOOLS.filter(({ granted, reads, searches, writes }) => (isOpen || !granted)
    && (reads === undefined || reading.reach(principal, reads) !== null)
    && (searches !== true || reading.search.maySearch(principal)) && (writes !== true || writing.may(principal)));
}

export function registerTools(server: Server, session: Session): void {
  const { backend, peer } = session;
  const listed = async () => listedTools(backend, await peer.principal);
  server.setRequestHandler('tools/list', async (request) => {
    if (request.params?.cursor !== undefined) throw new ProtocolError(ErrorCode.invalidParams, 'cursor: there is only one page');
    return { tools: (await listed()).map((each) => descriptions.get(each)!) as never };
  });
  server.setRequestHandler('tools/call', async (request, ctx) => {
    const { name, arguments: args } = request.params;
    const each = TOOLS.find((known) => known.name === name);
    if (!each) throw new ProtocolError(ErrorCode.invalidParams, `name: there is no tool of this name; there are ${(await listed()).map((known) => known.name).join(', ')}`);
    const principal = await peer.principal;
    const access = accessOf(backend, principal);
    if (each.granted && access !== 'open') return refusal(access) as never;
    const unreadOf = (): string | null => (each.reads === undefined ? null : readingRefusal(backend, principal, each.reads, each.searches === true));
    const unread = unreadOf();
    if (unread !== null) return { content: [{ type: 'text', text: unread }], isError: true } as never;
    if (each.writes === true && !backend.writing.may(principal)) return { content: [{ type: 'text', text: MAY_NOT_WRITE }], isError: true } as never;
    const token = ctx.mcpReq._meta?.progressToken;
    const licence = token === undefined ? null : peer.connection.license('_meta.progressToken');
    const progress = licence === null ? null : (done: number, total: number, message: string) => {
      if (ctx.mcpReq.signal.aborted) return;
      const params = { progressToken: token!, progress: done, total, message };
      peer.connection.notify(licence, 'notifications/progress', `${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/progress', params })}\n`);
    };
    const { subjects, reading: { hidesCodes } } = backend;
    // The owner may answer otherwise while a file is read or a store is searched, and what was read would tell of what is hidden now.
    const isChanged = (): boolean => backend.subjects !== subjects || backend.reading.hidesCodes !== hidesCodes;
    const withdrawn = (): string | null => unreadOf() ?? (each.reads !== undefined && isChanged() ? CHANGED : null);
    return await runTool(each, args, { session, principal, signal: ctx.mcpReq.signal, progress }, withdrawn) as never;
  });
}

const CHANGED = 'The owner changed what is shown while this was read. Ask again.';
const MAY_NOT_WRITE = 'The owner of this Mac has not let this client write. request_access with write true asks for it.';

const refusals = {
  approval: 'The owner of this Mac has not let this client in yet. Call request_access; they answer in Belfry.',
  refused: 'The owner of this Mac does not allow this client. Only they can change that, in Belfry.',
  off: 'Every event is switched off. The owner of this Mac can turn events on in Belfry.',
} as const;

const refusal = (access: keyof typeof refusals) => ({ content: [{ type: 'text', text: refusals[access] }], isError: true });
