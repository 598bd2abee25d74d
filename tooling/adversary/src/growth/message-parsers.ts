import { PassThrough } from 'node:stream'
import { findSchemaProblem, type JsonObject, parseMessage, traceContextOf } from '@x/schema'
import { compileJsonSchema } from '@x/schema/json-schema'
import { form } from '@x/server'
import { connectHttp } from '@x/transport-http/client'
import { connectStreams } from '@x/transport-stdio'
import { z } from 'zod'
import type { MeasuredParser } from './measure-growth.ts'
import { type Answer, createGrowthServer } from './growth-server.ts'
import { fill, kib, many, mib } from './inputs.ts'

const signal = new AbortController().signal

const messages: readonly MeasuredParser[] = [
  {
    name: 'JSON: characters of a message',
    bound: 4 * mib - kib,
    prepare: (size) => {
      const text = `{"jsonrpc":"2.0","method":"a","params":{"a":"${fill('\\u0041', size - (size % 6))}"}}`
      return () => parseMessage(text)
    },
  },
  {
    name: 'JSON: values of a message',
    bound: 95_000,
    unit: 'values',
    prepare: (size) => {
      const text = `{"jsonrpc":"2.0","method":"a","params":{${many(size, (index) => `"k${index}":[]`)}}}`
      return () => parseMessage(text)
    },
  },
  {
    name: 'traceparent',
    bound: 4 * mib,
    prepare: (size) => {
      const traceparent = fill('00-', size)
      return () => traceContextOf({ _meta: { traceparent } })
    },
  },
]

const { post, callTool, send } = createGrowthServer()
const overHttp: readonly MeasuredParser[] = [
  {
    name: 'HTTP: body',
    bound: 4 * mib - kib,
    prepare: (size) => post({ text: fill('text ', size) }),
  },
  ...(['accept', 'content-type', 'mcp-name', 'authorization', 'origin'] as const).map(
    (header): MeasuredParser => ({
      name: `HTTP: ${header}`,
      bound: 16 * kib,
      prepare: (size) => post({}, { [header]: headerOf[header](size) }),
    }),
  ),
  {
    name: 'arguments of a tool',
    bound: 9990,
    unit: 'values',
    prepare: (size) => callTool({ rows: Array<JsonObject>(Math.floor(size / 2)).fill({ a: 1 }) }),
  },
  { name: 'URI, against templates', bound: 8192, prepare: (size) => send('resources/read', { uri: uriOf(size) }) },
  { name: 'cursor', bound: mib, prepare: (size) => send('tools/list', { cursor: fill('Ab_-', size) }) },
  { name: 'requestState', bound: 32 * kib, prepare: (size) => callTool({}, { requestState: fill('Ab.-', size) }) },
  {
    name: 'form answers',
    bound: mib - 100,
    prepare: (size) => {
      const answer: Answer = { action: 'accept', content: { name: fill('text ', size) } }
      return callTool({}, { inputResponses: { name: answer } })
    },
  },
]

const headerOf: Readonly<
  Record<'accept' | 'content-type' | 'mcp-name' | 'authorization' | 'origin', (size: number) => string>
> = {
  accept: (size) => fill('text/html;q=0.5 , ', size),
  'content-type': (size) => `application/json${fill('; a="b"  ', size)}`,
  'mcp-name': (size) => `=?base64?${fill('QUFB', size)}?=`,
  authorization: (size) => `Bearer ${fill('a.b-', size)}`,
  origin: (size) => `https://${fill('a.', size)}`,
}
const uriOf = (size: number): string => `a://${fill('b/', size - 4)}`

const streams: readonly MeasuredParser[] = [
  ...(['\n', '\r\n'] as const).map(
    (end): MeasuredParser => ({
      name: `event stream, lines that end with ${JSON.stringify(end)}`,
      bound: 15 * mib,
      prepare: (size) => () => readStream(fill(`data: 1,${end}`, size)),
    }),
  ),
  {
    name: 'stdio: line',
    bound: 15 * mib,
    prepare: (size) => {
      const line = `{"jsonrpc":"2.0","method":"a","params":{"a":"${fill('text ', size)}"}}\n`
      const chunks = Array.from({ length: Math.ceil(line.length / (64 * kib)) }, (_, index) =>
        line.slice(index * 64 * kib, (index + 1) * 64 * kib),
      )
      return () => readLine(chunks)
    },
  },
]

async function readStream(text: string): Promise<void> {
  const headers = { 'content-type': 'text/event-stream' }
  await using connection = connectHttp('http://127.0.0.1:9/mcp', {
    retry: false,
    fetch: async () => new Response(text, { headers }),
  })
  const context = { signal, context: new Map(), notify: () => {} }
  await connection.exchange({ jsonrpc: '2.0', id: 1, method: 'ping' }, context as never)
}

async function readLine(chunks: readonly string[]): Promise<void> {
  const input = new PassThrough({ highWaterMark: 64 * kib })
  const arrived = deferred()
  await using _ = connectStreams({
    input,
    output: new PassThrough(),
    onNotification: () => arrived.resolve(),
    log: () => arrived.resolve(),
  })
  for (const chunk of chunks) if (!input.write(chunk)) await new Promise((resolve) => input.once('drain', resolve))
  await arrived.promise
}

function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((resolvePromise) => (resolve = resolvePromise))
  return { promise, resolve: () => resolve() }
}

const schemas: readonly MeasuredParser[] = [
  {
    name: 'schema of a server',
    bound: 9990,
    unit: 'subschemas',
    prepare: (size) => {
      const schema = JSON.parse(
        `{"type":"object","properties":{${many(size, (index) => `"k${index}":{"type":"string"}`)}}}`,
      )
      return () => findSchemaProblem(schema) ?? compileJsonSchema(schema)({})
    },
  },
  {
    name: 'pattern in a schema',
    bound: 1000,
    prepare: (size) => () => findSchemaProblem({ type: 'string', pattern: fill('(a|b)?', size) }),
  },
  {
    name: 'content of a form',
    bound: 9990,
    unit: 'values',
    prepare: (size) => {
      const { check } = form(z.object({ a: z.array(z.enum(['a', 'b'])) }))
      return () => check({ a: Array<string>(size).fill('a') })
    },
  },
]

/** The parsers of messages, streams and schemas. */
export const messageParsers: readonly MeasuredParser[] = [...messages, ...overHttp, ...streams, ...schemas]
