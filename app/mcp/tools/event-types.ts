import { z } from 'zod';
import { catalogue } from '../../events/catalogue.ts';
import { READS, tool } from './tool.ts';

const described = z.object({
  event: z.string(), title: z.string(), description: z.string(),
  arguments: z.record(z.string(), z.unknown()).describe('JSON Schema of the arguments of watch_events.'),
});

export const listEventTypes = tool({
  name: 'list_event_types',
  title: 'List event types',
  description: 'Lists what this Mac can tell you of, such as new mail, with the arguments that each takes. Ask this first, then call watch_events.',
  input: z.strictObject({}),
  output: z.object({ events: z.array(described) }),
  annotations: READS,
  granted: false,
  run(_args, { session: { backend }, principal }) {
    const events = backend.types
      .filter((type) => !['off', 'refused'].includes(backend.gate(principal, type)))
      .map((type) => ({ event: type, title: catalogue[type].title, description: catalogue[type].description, arguments: catalogue[type].inputSchema }));
    const sentence = events.length === 0
      ? 'No event is on for you. The owner of this Mac can turn events on in Belfry; request_access asks for it.'
      : `${events.map(({ event }) => event).join(' and ')} can be watched with watch_events. A sender is required: from, domains or both.`;
    return { sentence, value: { events } };
  },
});
