// A model without a model: answers the three APIs that the agents speak with what a script says, and
// writes down all that it was asked.
//
// usage: node model.mjs SCRIPT LOG
//
// SCRIPT is a JSON list of turns, `{"text": …}`, `{"tool": NAME, "input": {…}}`, `{"status": N}`,
// `{"hang": true}` for an answer that begins and never ends, or `{"each": TURN}`, which stays and is
// said to every prompt, while the result of a tool is answered with `ok`; after the last turn every
// answer is `ok`. An input `"DIGEST"` is the last digest that the model was
// told, which it could not know otherwise. Each request is a line of LOG. The port is printed as soon
// as somebody listens there, on loopback alone.
import { appendFileSync, readFileSync } from 'node:fs';
import { createServer } from 'node:http';

const [script, log] = process.argv.slice(2);
const turns = JSON.parse(readFileSync(script, 'utf8'));
let answered = 0;

/** Returns whether a request ends with the result of a tool. */
function isResult(request) {
  const content = request.messages?.at(-1)?.content;
  return Array.isArray(content) && content.some((block) => block.type === 'tool_result');
}

/** Returns what is said next to a request. */
function nextTurn(request) {
  answered += 1;
  if (turns[0]?.each) return isResult(request) ? { text: 'ok' } : turns[0].each;
  const turn = turns.shift() ?? { text: 'ok' };
  if (turn.input?.digest !== 'DIGEST') return turn;
  // The result of a tool is text in a text, so its quotes may be escaped, even twice.
  const told = JSON.stringify(request).matchAll(/"digest\\*":\\*"([0-9a-z:-]+)/g);
  return { ...turn, input: { ...turn.input, digest: [...told].at(-1)?.[1] } };
}

/** Sends events one after the other, as both APIs stream them. */
function stream(response, events) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  for (const event of events) {
    response.write(`event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
  }
  response.end();
}

function send(response, status, body) {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(body));
}

/** Begins an answer that never ends, and says so. */
function hang(response) {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.flushHeaders();
  console.error(`hanging ${answered}.`);
}

/** The Messages API, which Claude Code speaks. */
function messages(request, response) {
  // Requests without tools are the program's own: titles, summaries.
  const turn = request.tools?.length > 0 ? nextTurn(request) : { text: 'ok' };
  if (turn.status) {
    const error = { type: 'rate_limit_error', message: 'This request would exceed your rate limit' };
    send(response, turn.status, { type: 'error', error });
    return;
  }
  if (turn.hang) return hang(response);
  const message = {
    id: `msg_${answered}`,
    type: 'message',
    role: 'assistant',
    model: request.model,
    stop_sequence: null,
  };
  const usage = { input_tokens: 9, output_tokens: 3, cache_creation_input_tokens: 0, cache_read_input_tokens: 0 };
  const reason = turn.tool ? 'tool_use' : 'end_turn';
  const tool = { type: 'tool_use', id: `toolu_${answered}`, name: turn.tool };
  if (!request.stream) {
    const block = turn.tool ? { ...tool, input: turn.input } : { type: 'text', text: turn.text };
    send(response, 200, { ...message, content: [block], stop_reason: reason, usage });
    return;
  }
  const [block, delta] = turn.tool
    ? [{ ...tool, input: {} }, { type: 'input_json_delta', partial_json: JSON.stringify(turn.input) }]
    : [{ type: 'text', text: '' }, { type: 'text_delta', text: turn.text }];
  stream(response, [
    { type: 'message_start', message: { ...message, content: [], stop_reason: null, usage } },
    { type: 'content_block_start', index: 0, content_block: block },
    { type: 'content_block_delta', index: 0, delta },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: reason, stop_sequence: null }, usage },
    { type: 'message_stop' },
  ]);
}

/** Returns a call of a tool as the Responses API has it; a search for tools is a kind of its own. */
function called(turn) {
  if (!turn.tool) return undefined;
  const call = { id: `fc_${answered}`, call_id: `call_${answered}`, status: 'completed' };
  if (turn.tool === 'tool_search') {
    return { ...call, type: 'tool_search_call', execution: 'client', arguments: turn.input };
  }
  const input = JSON.stringify(turn.input);
  return { ...call, type: 'function_call', name: turn.tool, namespace: turn.namespace, arguments: input };
}

/** The Responses API, which Codex speaks. */
function responses(request, response) {
  const turn = nextTurn(request);
  if (turn.hang) return hang(response);
  const item = called(turn) ?? {
    type: 'message',
    id: `msg_${answered}`,
    role: 'assistant',
    status: 'completed',
    content: [{ type: 'output_text', text: turn.text, annotations: [] }],
  };
  const id = `resp_${answered}`;
  const usage = {
    input_tokens: 9,
    input_tokens_details: { cached_tokens: 0 },
    output_tokens: 3,
    output_tokens_details: { reasoning_tokens: 0 },
    total_tokens: 12,
  };
  stream(response, [
    { type: 'response.created', response: { id, object: 'response', status: 'in_progress', output: [] } },
    { type: 'response.output_item.added', output_index: 0, item },
    { type: 'response.output_item.done', output_index: 0, item },
    { type: 'response.completed', response: { id, object: 'response', status: 'completed', output: [item], usage } },
  ]);
}

/** The Gemini API: a stream of whole answers, here of one. */
function generate(request, response) {
  const turn = nextTurn(request);
  if (turn.hang) return hang(response);
  const part = turn.tool ? { functionCall: { name: turn.tool, args: turn.input } } : { text: turn.text };
  const answer = {
    candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 3, totalTokenCount: 12 },
  };
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  response.end(`data: ${JSON.stringify(answer)}\n\n`);
}

const server = createServer((request, response) => {
  const pieces = [];
  request.on('data', (piece) => pieces.push(piece));
  request.on('end', () => {
    let body = null;
    try {
      body = JSON.parse(Buffer.concat(pieces).toString());
    } catch {
      // Not every request has a body.
    }
    appendFileSync(log, `${JSON.stringify({ url: request.url, body })}\n`);
    if (request.url.includes('/count_tokens')) {
      send(response, 200, { input_tokens: 9 });
    } else if (request.url.startsWith('/v1/messages')) {
      messages(body ?? {}, response);
    } else if (request.method === 'POST' && request.url.includes('/responses')) {
      responses(body ?? {}, response);
    } else if (request.url.includes(':streamGenerateContent')) {
      generate(body ?? {}, response);
    } else {
      send(response, 404, { error: { type: 'not_found_error', message: 'there is nothing here' } });
    }
  });
});
server.listen(0, '127.0.0.1', () => console.error(`listening on ${server.address().port}`));
