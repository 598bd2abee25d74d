import Anthropic from '@anthropic-ai/sdk'
import type { CallToolResult, JsonObject } from '@x/schema'
import { createServer, tool } from '@x/server'
import { generateText, isStepCount, type ToolSet } from 'ai'
import { MockLanguageModelV4 } from 'ai/test'
import OpenAI from 'openai'
import type { ChatCompletionMessageParam, ChatCompletionTool } from 'openai/resources/chat/completions'
import type { ResponseInput, Tool as ResponsesTool } from 'openai/resources/responses/responses'
import { describe, expect, expectTypeOf, test } from 'vitest'
import { z } from 'zod'
import { createClient } from '../index.ts'
import {
  type AiSdkTool,
  aiSdkTools,
  type AnthropicTool,
  type AnthropicToolResult,
  anthropicResult,
  anthropicTools,
  type OpenAiChatMessage,
  openaiChatMessages,
  type OpenAiChatTool,
  openaiChatTools,
  openaiResult,
  type OpenAiTool,
  type OpenAiToolResult,
  openaiTools,
} from './index.ts'

const png = 'iVBORw0KGgo='
const image = { type: 'image', data: png, mimeType: 'image/png' } as const

const city = tool('map.city', {
  description: 'Shows a city',
  input: z.object({ $name: z.string() }),
  run: ({ $name }) => ({ content: [{ type: 'text', text: `This is ${$name}.` }, image] }),
})
const fail = tool('fail', {
  description: 'Fails',
  run: () => ({ isError: true, content: [{ type: 'text', text: 'No map of that' }, image] }),
})
const client = createClient(createServer({ name: 'maps', version: '1.0.0', tools: [city, fail] }), {
  name: 'host',
  version: '1.0.0',
})
const cityArguments = { _x0024_name: 'Oslo' }
const citySchema = {
  type: 'object',
  properties: { _x0024_name: { title: '$name', type: 'string' } },
  required: ['_x0024_name'],
}

/** A model API that gives one answer, and records what it was asked. */
function answerWith(answer: object): { fetch: typeof fetch; asked: JsonObject[] } {
  const asked: JsonObject[] = []
  return {
    asked,
    fetch: async (_, init) => {
      asked.push(JSON.parse(String(init?.body)))
      return Response.json(answer)
    },
  }
}

describe('the tools of a server, with the package of a model API', () => {
  test('Anthropic: an answer with two calls becomes two results', async () => {
    const tools = await anthropicTools(client)
    const content = [
      { type: 'text', text: 'I will look.' },
      { type: 'tool_use', id: 'a', name: 'map_city', input: cityArguments },
      { type: 'tool_use', id: 'b', name: 'fail', input: {} },
    ]
    const { fetch, asked } = answerWith({ content })
    const anthropic = new Anthropic({ apiKey: 'none', fetch })
    const request = { model: 'any', max_tokens: 1, tools: tools.definitions }
    const messages: Anthropic.MessageParam[] = [{ role: 'user', content: 'Where is Oslo?' }]
    const answer = await anthropic.messages.create({ ...request, messages })
    const results = await tools.run(answer.content)
    await anthropic.messages.create({ ...request, messages: [...messages, { role: 'user', content: results }] })
    expect(asked[0]).toMatchObject({ tools: [{ name: 'map_city', input_schema: citySchema }, { name: 'fail' }] })
    const source = { type: 'base64', media_type: 'image/png', data: png }
    expect(results).toEqual([
      {
        type: 'tool_result',
        tool_use_id: 'a',
        is_error: false,
        content: [
          { type: 'text', text: 'This is Oslo.' },
          { type: 'image', source },
        ],
      },
      {
        type: 'tool_result',
        tool_use_id: 'b',
        is_error: true,
        content: [
          { type: 'text', text: 'No map of that' },
          { type: 'text', text: '[image, image/png, 9 bytes, which cannot be shown here]' },
        ],
      },
    ])
  })

  test('OpenAI Responses: calls become items of the next input', async () => {
    const tools = await openaiTools(client)
    const output = [
      { type: 'reasoning', id: 'r', summary: [] },
      { type: 'function_call', call_id: 'a', name: 'map_city', arguments: JSON.stringify(cityArguments) },
      { type: 'function_call', call_id: 'b', name: 'fail', arguments: '' },
    ]
    const { fetch, asked } = answerWith({ output })
    const openai = new OpenAI({ apiKey: 'none', fetch })
    const input = 'Where is Oslo?'
    const response = await openai.responses.create({ model: 'any', input, tools: tools.definitions })
    const results = await tools.run(response.output)
    await openai.responses.create({ model: 'any', previous_response_id: 'a', input: results, tools: tools.definitions })
    expect(asked[0]).toMatchObject({ tools: [{ type: 'function', name: 'map_city', parameters: citySchema }, {}] })
    expect(results).toEqual([
      {
        type: 'function_call_output',
        call_id: 'a',
        output: [
          { type: 'input_text', text: 'This is Oslo.' },
          { type: 'input_image', image_url: `data:image/png;base64,${png}`, detail: 'auto' },
        ],
      },
      {
        type: 'function_call_output',
        call_id: 'b',
        output: expect.arrayContaining([{ type: 'input_text', text: 'The call failed:' }]),
      },
    ])
  })

  test('OpenAI Chat Completions: images follow in a message of the user', async () => {
    const tools = await openaiChatTools(client)
    const call = { id: 'a', type: 'function', function: { name: 'map_city', arguments: JSON.stringify(cityArguments) } }
    const { fetch, asked } = answerWith({ choices: [{ message: { role: 'assistant', tool_calls: [call] } }] })
    const openai = new OpenAI({ apiKey: 'none', fetch })
    const messages: ChatCompletionMessageParam[] = [{ role: 'user', content: 'Where is Oslo?' }]
    const { choices } = await openai.chat.completions.create({ model: 'any', messages, tools: tools.definitions })
    const results = await tools.run(choices[0]?.message.tool_calls)
    messages.push(...results)
    expect(asked[0]).toMatchObject({ tools: [{ function: { name: 'map_city', parameters: citySchema } }, {}] })
    expect(results).toEqual([
      { role: 'tool', tool_call_id: 'a', content: 'This is Oslo.\n\n[image 1 of the next message of the user]' },
      {
        role: 'user',
        content: [
          { type: 'text', text: 'From the results of the tools:' },
          { type: 'image_url', image_url: { url: `data:image/png;base64,${png}` } },
        ],
      },
    ])
  })

  test('OpenAI Chat Completions: a description that is too long for a function is in its schema', async () => {
    const description = 'a'.repeat(1025)
    const source = { listTools: async () => [{ name: 't', description, inputSchema: { type: 'object' } as const }] }
    const { definitions } = await openaiChatTools({ ...source, callTool: client.callTool })
    const shortened = `${'a'.repeat(1023)}…`
    expect(definitions).toMatchObject([{ function: { description: shortened, parameters: { description } } }])
  })

  test('OpenAI Chat Completions: a message without calls, which ends the loop, has no results', async () => {
    const tools = await openaiChatTools(client)
    expect([await tools.run(undefined), await tools.run(null)]).toEqual([[], []])
  })

  test('OpenAI Chat Completions: a description is cut between two characters', async () => {
    const description = `${'a'.repeat(1022)}😀b`
    const source = { listTools: async () => [{ name: 't', description, inputSchema: { type: 'object' } as const }] }
    const { definitions } = await openaiChatTools({ ...source, callTool: client.callTool })
    expect(definitions[0]?.function.description).toBe(`${'a'.repeat(1022)}…`)
  })

  test('AI SDK: generateText calls the tools, and the model gets their content', async () => {
    const usage = {
      inputTokens: { total: 1, noCache: 1, cacheRead: 0, cacheWrite: 0 },
      outputTokens: { total: 1, text: 1, reasoning: 0 },
    }
    const toCall = (toolName: string, args: object) =>
      ({ type: 'tool-call', toolCallId: toolName, toolName, input: JSON.stringify(args) }) as const
    const model = new MockLanguageModelV4({
      doGenerate: [
        {
          content: [toCall('map_city', cityArguments), toCall('fail', {})],
          finishReason: { unified: 'tool-calls', raw: undefined },
          usage,
          warnings: [],
        },
        {
          content: [{ type: 'text', text: 'There.' }],
          finishReason: { unified: 'stop', raw: undefined },
          usage,
          warnings: [],
        },
      ],
    })
    const tools = await aiSdkTools(client)
    const { text } = await generateText({ model, prompt: 'Where is Oslo?', tools, stopWhen: isStepCount(3) })
    expect(text).toBe('There.')
    const [first, second] = model.doGenerateCalls
    expect(first?.tools).toMatchObject([{ name: 'map_city', inputSchema: citySchema }, { name: 'fail' }])
    expect(second?.prompt.at(-1)).toMatchObject({
      role: 'tool',
      content: [
        {
          output: {
            type: 'content',
            value: [
              { type: 'text', text: 'This is Oslo.' },
              { type: 'file', mediaType: 'image/png', data: { type: 'data', data: png } },
            ],
          },
        },
        { output: { type: 'error-text', value: expect.stringContaining('No map of that') } },
      ],
    })
  })

  test('has the types of the packages', () => {
    expectTypeOf<AnthropicTool>().toExtend<Anthropic.Tool>()
    expectTypeOf<AnthropicToolResult>().toExtend<Anthropic.ToolResultBlockParam>()
    expectTypeOf<OpenAiTool>().toExtend<ResponsesTool>()
    expectTypeOf<OpenAiToolResult>().toExtend<ResponseInput[number]>()
    expectTypeOf<OpenAiChatTool>().toExtend<ChatCompletionTool>()
    expectTypeOf<OpenAiChatMessage>().toExtend<ChatCompletionMessageParam>()
    expectTypeOf<Record<string, AiSdkTool>>().toExtend<ToolSet>()
  })
})

/** The text of a result, as every API gets it. */
function textOf(result: Partial<CallToolResult>): unknown {
  const complete = { resultType: 'complete', content: [], ...result } as const
  const [message] = openaiChatMessages([{ id: 'a', result: complete }])
  const output = openaiResult('a', complete).output
  if (typeof output === 'string') expect(message).toMatchObject({ content: output })
  return output
}

describe('a result', () => {
  const link = { type: 'resource_link', uri: 'file:///a.txt', name: 'a.txt', mimeType: 'text/plain' } as const
  const audio = { type: 'audio', data: 'AAAA', mimeType: 'audio/wav' } as const
  test.each<[string, Partial<CallToolResult>, unknown]>([
    ['without content says so', {}, '(no content)'],
    ['has a text', { content: [{ type: 'text', text: 'a' }] }, 'a'],
    [
      'has no text for the user alone',
      { content: [{ type: 'text', text: 'a', annotations: { audience: ['user'] } }] },
      '(no content)',
    ],
    ['has structured content', { structuredContent: { a: 1 } }, '{"a":1}'],
    [
      'has structured content once',
      { content: [{ type: 'text', text: '{\n "a": 1 }' }], structuredContent: { a: 1 } },
      '{\n "a": 1 }',
    ],
    [
      'has structured content after another text',
      { content: [{ type: 'text', text: 'One.' }], structuredContent: { a: 1 } },
      'One.\n\n{"a":1}',
    ],
    [
      'has a link',
      { content: [{ ...link, description: 'A file' }] },
      '[Resource a.txt (text/plain): file:///a.txt, A file]',
    ],
    [
      'has a resource with text',
      { content: [{ type: 'resource', resource: { uri: 'file:///a.txt', text: 'hello' } }] },
      'Resource file:///a.txt:\nhello',
    ],
    ['describes sound', { content: [audio] }, '[sound, audio/wav, 3 bytes, which cannot be shown here]'],
    [
      'describes a picture of another type',
      { content: [{ ...image, mimeType: 'image/svg+xml' }] },
      '[image, image/svg+xml, 9 bytes, which cannot be shown here]',
    ],
    [
      'has a document',
      {
        content: [{ type: 'resource', resource: { uri: 'file:///a.pdf', blob: 'AAAA', mimeType: 'application/pdf' } }],
      },
      [{ type: 'input_file', file_data: 'data:application/pdf;base64,AAAA', filename: 'file:///a.pdf' }],
    ],
  ])('%s', (_, result, expected) => {
    expect(textOf(result)).toEqual(expected)
  })

  test('gives a document to Anthropic with its name', () => {
    const resource = { uri: 'file:///a.pdf', blob: 'AAAA', mimeType: 'application/pdf' }
    const result = { resultType: 'complete', content: [{ type: 'resource', resource }] } as const
    expect(anthropicResult('a', result).content).toMatchObject([{ type: 'document', title: 'file:///a.pdf' }])
  })
})
