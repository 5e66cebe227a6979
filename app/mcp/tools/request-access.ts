import { z } from 'zod';
import { parseArguments } from '../../events/sender-filter.ts';
import { namesFor } from '../events-extension.ts';
import { accessOf } from '../session.ts';
import { tool } from './tool.ts';

const senders = z.array(z.string().min(1).max(320)).min(1).max(100).optional();

export const requestAccess = tool({
  name: 'request_access',
  title: 'Ask the owner',
  description: 'Asks the owner of this Mac to let this client hear of arrivals, optionally naming the senders. The owner answers in Belfry; asking again changes nothing. It does not say who is allowed.',
  input: z.strictObject({
    event: z.enum(['mail.received', 'messages.received']).optional().describe('Left out: whatever is on.'),
    from: senders.describe('Addresses or numbers.'),
    domains: senders,
  }),
  output: z.object({ access: z.enum(['allowed', 'waiting', 'not_allowed', 'off']) }),
  annotations: { readOnlyHint: false, destructiveHint: false, idempotentHint: true, openWorldHint: false },
  granted: false,
  run({ event, from, domains }, { session: { backend }, principal }) {
    const types = event === undefined ? backend.types : [event];
    const named = from !== undefined || domains !== undefined;
    for (const type of types) {
      const fits = { ...(from && { from }), ...(domains && { domains }) };
      backend.requests(principal, type, named ? parseArguments(type, fits, namesFor(backend, type, principal)).entries : []);
    }
    switch (accessOf(backend, principal)) {
      case 'open':
        return { sentence: 'The owner allows this client. What you asked for was noted; whatever of it they let through will arrive.', value: { access: 'allowed' } };
      case 'approval':
        return { sentence: 'The owner was asked and has not answered yet. Go on with something else and call list_watches later.', value: { access: 'waiting' } };
      case 'refused':
        return { sentence: 'The owner does not allow this client. Only they can change that, in Belfry.', value: { access: 'not_allowed' } };
      case 'off':
        return { sentence: 'Every event is switched off. The owner can turn events on in Belfry.', value: { access: 'off' } };
    }
  },
});
