import { z } from 'zod';
import { parseArguments } from '../../events/sender-filter.ts';
import type { Principal } from '../../events/verdict.ts';
import { namesFor } from '../events-request.ts';
import { accessOf, type Backend } from '../session.ts';
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
  output: z.object({
    access: z.enum(['allowed', 'waiting', 'not_allowed', 'off']), mayRead: z.array(store), canAskToRead: z.array(store),
    maySearch: z.boolean(), canAskToSearch: z.boolean(), mayWrite: z.boolean(), canAskToWrite: z.boolean(),
  }),
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
    const may = rightsOf(backend, principal);
    const grants = { ...may, ...askableOf(may, backend.policy.isDenied(principal)) };
    // Those that are granted by now would be no news to the owner.
    const wanted = [
      ...store.options.filter((each) => read?.includes(each) && !may.mayRead.includes(each)).map((each) => `read ${each}`),
      ...(search && !may.maySearch ? ['search'] : []), ...(write && !may.mayWrite ? ['write'] : []),
    ];
    const also = wanted.length === 0 ? '' : ` They see too that you would like to ${listed(wanted)}.`;
    switch (accessOf(backend, principal)) {
      case 'open': {
        const isNew = [
          ...(wanted.length === 0 ? [] : [`They were asked to let it ${listed(wanted)}; tools for that appear once they do.`]),
          ...(named ? ['Whom you named was noted; whatever of it they let through will arrive.'] : []),
          ...(event === undefined || ['open', 'paused'].includes(backend.gate(principal, event)) ? [] : [`They see that you ask for ${event}, which this client does not get at present.`]),
        ];
        const asksNothing = event === undefined && !named && read === undefined && !search && !write;
        const rest = isNew.length > 0 ? isNew.join(' ') : asksNothing ? 'Nothing more was asked for.' : 'It may do already what you asked for.';
        return { sentence: `The owner allows this client. ${rest}`, value: { access: 'allowed', ...grants } };
      }
      case 'approval':
        return { sentence: `The owner was asked to let this client in and has not answered yet.${also} Go on with something else; request_access tells later whether they did.`, value: { access: 'waiting', ...grants } };
      case 'refused':
        return { sentence: 'The owner does not allow this client. Only they can change that, in Belfry.', value: { access: 'not_allowed', ...grants } };
      case 'off':
        return { sentence: `Every event is switched off. The owner can turn events on in Belfry.${also}`, value: { access: 'off', ...grants } };
    }
  },
});

const rightsOf = ({ reading, writing }: Backend, principal: Principal) => ({
  mayRead: store.options.filter((each) => reading.reach(principal, each) !== null), maySearch: reading.search.maySearch(principal), mayWrite: writing.may(principal),
});

/** A client that was refused asks for nothing more. */
const askableOf = ({ mayRead, maySearch, mayWrite }: ReturnType<typeof rightsOf>, denied: boolean) => ({
  canAskToRead: store.options.filter((each) => !denied && !mayRead.includes(each)), canAskToSearch: !denied && !maySearch, canAskToWrite: !denied && !mayWrite,
});

const listed = (words: readonly string[]) => (words.length < 2 ? words.join('') : `${words.slice(0, -1).join(', ')} and ${words.at(-1)}`);
