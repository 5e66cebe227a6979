import { sendEvents, textOf, type Dialect } from './model-stand-in.ts';

/** OpenAI's Responses API, streamed, as far as clients use it for a turn with tools. A tool in a namespace is named `namespace.tool`. */
export const responsesApi: Dialect = {
  path: '/v1/responses',
  read: ({ tools = [], input }) => ({
    offered: (tools as any[]).flatMap(({ type, name, tools: inner }) => (type === 'namespace' ? (inner as any[]).map((tool) => `${name}.${tool.name}`) : [name as string])),
    results: new Map((input as any[]).filter(({ type }) => type === 'function_call_output').map(({ call_id: id, output }) => [id as string, textOf(output)])),
  }),
  write(response, _body, reply) {
    const item = 'text' in reply
      ? { type: 'message', id: 'msg_1', role: 'assistant', content: [{ type: 'output_text', text: reply.text }] }
      : { type: 'function_call', id: `item_${reply.id}`, call_id: reply.id, ...called(reply.tool), arguments: JSON.stringify(reply.input) };
    sendEvents(response, [
      ['response.created', { response: { id: 'resp_1' } }],
      ['response.output_item.done', { output_index: 0, item }],
      ['response.completed', { response: { id: 'resp_1', usage: { input_tokens: 1, input_tokens_details: null, output_tokens: 1, output_tokens_details: null, total_tokens: 2 } } }],
    ]);
  },
};

function called(tool: string): { namespace?: string; name: string } {
  const [namespace, name] = tool.split('.');
  return name === undefined ? { name: namespace! } : { namespace: namespace!, name };
}
