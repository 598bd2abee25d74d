import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'

/** A tool as a model API names it. Codex puts the tools of a server into a namespace. */
export interface OfferedTool {
  readonly name: string
  readonly namespace?: string
}

/** One request to a model. */
export interface ModelTurn {
  /** The last text of the user, if no result of a tool follows it. */
  readonly user: string
  /** The results of tools since the last answer of the model, as the model reads them. */
  readonly results: readonly string[]
  readonly tools: readonly OfferedTool[]
  /** The tool that the stand-in called. */
  readonly called?: OfferedTool
}

/** What a model says. */
export interface ModelReply {
  readonly text: string
  readonly tool?: OfferedTool
  /** The arguments as JSON. */
  readonly args?: string
}

/** The wire form of a model API. */
export interface ModelApi {
  readonly path: RegExp
  /** Events have a line with their type. */
  readonly namesEvents: boolean
  /** What ends a stream after its last event. */
  readonly end: string
  read(body: JsonObject): ModelTurn
  whole(reply: ModelReply): JsonObject
  events(reply: ModelReply): readonly JsonObject[]
}

const objects = (value: JsonValue | undefined): JsonObject[] => (Array.isArray(value) ? value.filter(isJsonObject) : [])
const texts = (value: JsonValue | undefined): string =>
  typeof value === 'string'
    ? value
    : objects(value)
        .map(({ text }) => String(text ?? ''))
        .join('\n')
const shown = (value: JsonValue | undefined): string => (typeof value === 'string' ? value : JSON.stringify(value))
const shownIf = (value: JsonValue | undefined): string[] => (value === undefined ? [] : [shown(value)])
/** What a conversation has after the last answer of the model. Hosts add texts of their own to that of the user. */
function sinceAnswer(value: JsonValue | undefined, isAnswer: (item: JsonObject) => boolean): JsonObject[] {
  const list = objects(value)
  return list.slice(list.findLastIndex(isAnswer) + 1)
}
let lastCall = 0
const callId = (): string => `call_${(lastCall += 1)}`
const usage = { input_tokens: 10, output_tokens: 10 }

/** Anthropic Messages. */
const messages: ModelApi = {
  path: /\/v1\/messages$/,
  namesEvents: true,
  end: '',
  read({ messages: all, tools }) {
    const later = sinceAnswer(all, ({ role }) => role === 'assistant')
    const results = later.flatMap(({ content }) => objects(content)).filter(({ type }) => type === 'tool_result')
    return {
      user: later.map(({ content }) => texts(content)).join('\n'),
      results: results.map((result) => shown(result['content'])),
      tools: objects(tools).map(({ name }) => ({ name: String(name) })),
    }
  },
  whole({ text, tool, args = '{}' }) {
    const block = tool
      ? { type: 'tool_use', id: callId(), name: tool.name, input: JSON.parse(args) }
      : { type: 'text', text }
    const stop_reason = tool ? 'tool_use' : 'end_turn'
    return { id: callId(), type: 'message', role: 'assistant', model: 'm', content: [block], stop_reason, usage }
  },
  events({ text, tool, args = '{}' }) {
    const block = tool ? { type: 'tool_use', id: callId(), name: tool.name, input: {} } : { type: 'text', text: '' }
    const delta = tool ? { type: 'input_json_delta', partial_json: args } : { type: 'text_delta', text }
    const message = { id: callId(), type: 'message', role: 'assistant', model: 'm', content: [], usage }
    return [
      { type: 'message_start', message },
      { type: 'content_block_start', index: 0, content_block: block },
      { type: 'content_block_delta', index: 0, delta },
      { type: 'content_block_stop', index: 0 },
      { type: 'message_delta', delta: { stop_reason: tool ? 'tool_use' : 'end_turn' }, usage },
      { type: 'message_stop' },
    ]
  },
}

/** OpenAI Chat Completions. */
const chatCompletions: ModelApi = {
  path: /\/chat\/completions$/,
  namesEvents: false,
  end: 'data: [DONE]\n\n',
  read({ messages: all, tools }) {
    const later = sinceAnswer(all, ({ role }) => role === 'assistant')
    return {
      user: later
        .filter(({ role }) => role === 'user')
        .map(({ content }) => texts(content))
        .join('\n'),
      // Images follow the results in a message of the user.
      results: later.some(({ role }) => role === 'tool')
        ? later
            .filter(({ role, content }) => role === 'tool' || Array.isArray(content))
            .map(({ content }) => shown(content))
        : [],
      tools: objects(tools).map((tool) => ({ name: nameOf(tool['function']) })),
    }
  },
  whole: (reply) => ({
    ...chunk,
    object: 'chat.completion',
    choices: [{ ...choiceOf(reply), message: messageOf(reply) }],
  }),
  events: (reply) => [
    { ...chunk, choices: [{ index: 0, delta: messageOf(reply), finish_reason: null }] },
    { ...chunk, choices: [{ ...choiceOf(reply), delta: {} }] },
    { ...chunk, choices: [], usage: { prompt_tokens: 10, completion_tokens: 10, total_tokens: 20 } },
  ],
}

const chunk = { id: 'c', object: 'chat.completion.chunk', created: 0, model: 'stand-in' }
const choiceOf = ({ tool }: ModelReply): JsonObject => ({ index: 0, finish_reason: tool ? 'tool_calls' : 'stop' })
const nameOf = (value: JsonValue | undefined): string => (isJsonObject(value) ? String(value['name']) : '')

function messageOf({ text, tool, args = '{}' }: ModelReply): JsonObject {
  if (tool === undefined) return { role: 'assistant', content: text }
  const call = { index: 0, id: callId(), type: 'function', function: { name: tool.name, arguments: args } }
  return { role: 'assistant', content: null, tool_calls: [call] }
}

/** OpenAI Responses. */
const responses: ModelApi = {
  path: /\/responses$/,
  namesEvents: true,
  end: '',
  read({ input, tools }) {
    const later = sinceAnswer(input, ({ type, role }) => role === 'assistant' || type === 'function_call')
    return {
      user: later
        .filter(({ role }) => role === 'user')
        .map(({ content }) => texts(content))
        .join('\n'),
      results: later.filter(({ type }) => type === 'function_call_output').map(({ output }) => shown(output)),
      tools: objects(tools).flatMap((tool) => {
        const namespace = String(tool['name'])
        if (tool['type'] !== 'namespace') return [{ name: namespace }]
        return objects(tool['tools']).map(({ name }) => ({ name: String(name), namespace }))
      }),
    }
  },
  whole: (reply) => ({ id: 'r', object: 'response', status: 'completed', output: [itemOf(reply)], usage: tokens }),
  events(reply) {
    const item = itemOf(reply)
    return [
      { type: 'response.created', response: { id: 'r' } },
      { type: 'response.output_item.done', output_index: 0, item },
      { type: 'response.completed', response: { id: 'r', output: [item], usage: tokens } },
    ]
  },
}

const tokens = { ...usage, input_tokens_details: null, output_tokens_details: null, total_tokens: 20 }

function itemOf({ text, tool, args = '{}' }: ModelReply): JsonObject {
  if (tool !== undefined) return { type: 'function_call', call_id: callId(), ...tool, arguments: args }
  return { type: 'message', role: 'assistant', id: callId(), content: [{ type: 'output_text', text }] }
}

/** Gemini. */
const generateContent: ModelApi = {
  path: /:(streamG|g)enerateContent$/,
  namesEvents: false,
  end: '',
  read({ contents, tools }) {
    const later = sinceAnswer(contents, ({ role }) => role === 'model')
    const parts = later.flatMap((content) => objects(content['parts']))
    return {
      user: texts(parts),
      // Images follow the results in parts of their own.
      results: parts.some(({ functionResponse }) => functionResponse !== undefined)
        ? parts.flatMap(({ functionResponse, inlineData }) => shownIf(functionResponse ?? inlineData))
        : [],
      tools: objects(tools).flatMap((tool) =>
        objects(tool['functionDeclarations']).map(({ name }) => ({ name: String(name) })),
      ),
    }
  },
  whole({ text, tool, args = '{}' }) {
    const part = tool ? { functionCall: { name: tool.name, args: JSON.parse(args) } } : { text }
    const usageMetadata = { promptTokenCount: 10, candidatesTokenCount: 10, totalTokenCount: 20 }
    return {
      candidates: [{ content: { role: 'model', parts: [part] }, finishReason: 'STOP', index: 0 }],
      usageMetadata,
    }
  },
  events: (reply) => [generateContent.whole(reply)],
}

export const modelApis: readonly ModelApi[] = [messages, chatCompletions, responses, generateContent]
