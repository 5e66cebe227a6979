import { z } from 'zod';
import { parseArguments } from '../../events/sender-filter.ts';
import { namesFor } from '../events-request.ts';
import { accessOf } from '../session.ts';
import { tool } from './tool.ts';

const store = z.enum(['mail', 'messages']);
const senders = z.array(z.string().min(1).max(320)).min(1).max(100).optional();

export const requestAccess = tool({
  name: 'request_access',
  title: 'Ask the owner',
  description: 'Asks the owner of this Mac to let this client hear of arrivals, optionally naming the senders, to read or search mail or messages, or to write. The owner answers in Belfry; asking again changes nothing. It does not say who is allowed.',
  input: z.strictObject({
    event: z.enum(['mail.received', 'messages.received']).optional().describe('Left out: whatever is on.'),
    from: senders.describe('Addresses or numbers.'),
    domains: senders,
    write: z.boolean().default(false).describe('To write: replies by Messages and drafts in Mail, each shown to the owner first. A step of its own for the owner.'),
    read: z.array(store).min(1).max(2).optional().describe('To read texts, not only envelopes: mail, messages or both. A step of its own for the owner; then no event is asked for unless one is named.'),
    search: z.boolean().default(false).describe('To search what it may read; reading is asked for by `read`.'),
  }),
  output: z.object({ access: z.enum(['allowed', 'waiting', 'not_allowed', 'off']), mayRead: z.array(store), canAskToRead: z.array(store), maySearch: z.boolean(), mayWrite: z.boolean() }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  granted: false,
  run({ event, from, domains, read, search, write }, { session: { backend }, principal }) {
    // Asking to read alone is no wish for events; but who is not let in yet has to ask for that first.
    const readsOnly = (read !== undefined || search || write) && from === undefined && domains === undefined && accessOf(backend, principal) === 'open';
    const types = event !== undefined ? [event] : readsOnly ? [] : backend.types;
    const named = from !== undefined || domains !== undefined;
    for (const type of types) {
      const fits = { ...(from && { from }), ...(domains && { domains }) };
      backend.requests(principal, type, named ? parseArguments(type, fits, namesFor(backend, type, principal)).entries : []);
    }
    if (read !== undefined || search) backend.reading.wants(principal, read ?? [], search);
    if (write) backend.writing.wants(principal);
    const reads = store.options.filter((each) => backend.reading.reach(principal, each) !== null);
    const reading = { mayRead: reads, canAskToRead: store.options.filter((each) => !reads.includes(each)), maySearch: backend.reading.search.maySearch(principal), mayWrite: backend.writing.may(principal) };
    switch (accessOf(backend, principal)) {
      case 'open':
        return { sentence: 'The owner allows this client. What you asked for was noted; whatever of it they let through will arrive, and tools to read, to search or to write appear once they allow that.', value: { access: 'allowed', ...reading } };
      case 'approval':
        return { sentence: 'The owner was asked and has not answered yet. Go on with something else and call list_watches later.', value: { access: 'waiting', ...reading } };
      case 'refused':
        return { sentence: 'The owner does not allow this client. Only they can change that, in Belfry.', value: { access: 'not_allowed', ...reading } };
      case 'off':
        return { sentence: 'Every event is switched off. The owner can turn events on in Belfry.', value: { access: 'off', ...reading } };
    }
  },
});
