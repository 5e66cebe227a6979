import { sendEvents, textOf, type Dialect } from './model-stand-in.ts';

/** Anthropic's Messages API, streamed, as far as clients use it for a turn with tools. */
export const messagesApi: Dialect = {
  path: '/v1/messages',
  read: ({ tools = [], messages }) => ({
    offered: (tools as any[]).map(({ name }) => name as string),
    results: new Map((messages as any[])
      .flatMap(({ content }) => (Array.isArray(content) ? content as any[] : []))
      .filter(({ type }) => type === 'tool_result')
      .map(({ tool_use_id: id, content }) => [id as string, textOf(content)])),
  }),
  write(response, { model }, reply) {
    const isText = 'text' in reply;
    sendEvents(response, [
      ['message_start', { message: { id: 'msg_1', type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null, usage: { input_tokens: 1, output_tokens: 1 } } }],
      ['content_block_start', { index: 0, content_block: isText ? { type: 'text', text: '' } : { type: 'tool_use', id: reply.id, name: reply.tool, input: {} } }],
      ['content_block_delta', { index: 0, delta: isText ? { type: 'text_delta', text: reply.text } : { type: 'input_json_delta', partial_json: JSON.stringify(reply.input) } }],
      ['content_block_stop', { index: 0 }],
      ['message_delta', { delta: { stop_reason: isText ? 'end_turn' : 'tool_use', stop_sequence: null }, usage: { output_tokens: 1 } }],
      ['message_stop', {}],
    ]);
  },
};
