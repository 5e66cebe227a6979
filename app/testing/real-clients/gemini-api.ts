import type { Dialect } from './model-stand-in.ts';

/** Google's Gemini API, streamed, as far as clients use it for a turn with tools. @param model as the client was told to use it. */
export const geminiApi = (model: string): Dialect => ({
  path: `/v1beta/models/${model}:streamGenerateContent`,
  read: ({ tools = [], contents }) => ({
    offered: (tools as any[]).flatMap(({ functionDeclarations = [] }) => (functionDeclarations as any[]).map(({ name }) => name as string)),
    results: new Map((contents as any[])
      .flatMap(({ parts = [] }) => parts as any[])
      .filter(({ functionResponse }) => functionResponse !== undefined)
      .map(({ functionResponse: { id, response } }) => [id as string, response.output as string])),
  }),
  write(response, _body, reply) {
    const part = 'text' in reply ? { text: reply.text } : { functionCall: { id: reply.id, name: reply.tool, args: reply.input } };
    const chunk = { candidates: [{ index: 0, content: { role: 'model', parts: [part] }, finishReason: 'STOP' }], usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 } };
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(`data: ${JSON.stringify(chunk)}\n\n`);
  },
});
