import { validRows } from '../requests.ts'
import { answerJson, beginEvents, type HostileCall, writeWithoutEnd } from './hostile-server.ts'
import type { Operation } from './operations.ts'

/** The responses of a hostile server, and the expected outcome at the client. */
export interface HostileAnswer {
  readonly name: string
  readonly operation?: Operation
  readonly answer: (call: HostileCall) => void
  /** `error`: the operation fails. `served`: it succeeds. `either`: it only must end. Default: `error`. */
  readonly expected?: 'error' | 'served' | 'either'
  /** The size of a response whose cost is measured. */
  readonly size?: number
  /** The bytes per unit of size. If given, the cost is compared with that of a valid response of the same bytes. */
  readonly unitBytes?: number
}

const page = { ttlMs: 0, cacheScope: 'private', resultType: 'complete' }
/** Creates the result of a tool with a text. */
export const textResult = (text: string): object => ({ resultType: 'complete', content: [{ type: 'text', text }] })
/** Creates a page of tools. */
export const toolsPage = (tools: unknown, more: object = {}): object => ({ ...page, tools, ...more })
const resultText = ({ id }: HostileCall, result: unknown): string => JSON.stringify({ jsonrpc: '2.0', id, result })
const asText = ({ id }: HostileCall, json: string): string => `{"jsonrpc":"2.0","id":${JSON.stringify(id)},${json}}`
const event = (text: string): string => `data: ${text}\n\n`
const textEvent = (call: HostileCall, text: string): string => event(resultText(call, textResult(text)))
const notificationEvent = (method: string, params: object): string =>
  event(JSON.stringify({ jsonrpc: '2.0', method, params }))
const progress = (more: object = {}): string =>
  notificationEvent('notifications/progress', { progressToken: 1, progress: 1, ...more })

/** Answers every request with a result. */
export const result =
  (of: (call: HostileCall) => unknown) =>
  (call: HostileCall): void =>
    answerJson(call, resultText(call, of(call)))
const json =
  (of: (size: number) => string) =>
  (call: HostileCall): void =>
    answerJson(call, asText(call, of(call.size)))
const body =
  (of: (call: HostileCall) => string | Buffer) =>
  (call: HostileCall): void =>
    answerJson(call, of(call))
const endless =
  (text: string) =>
  (call: HostileCall): void =>
    writeWithoutEnd(beginEvents(call, ': hello\n\n'), text)

const requestedSchema = { type: 'object', properties: { a: { type: 'string' } } }
const question = { method: 'elicitation/create', params: { mode: 'form', message: 'Again?', requestedSchema } }

/** Creates a valid response with about the given number of bytes. */
export const validAnswer = (bytes: number): HostileAnswer['answer'] =>
  result(() => ({ ...textResult('x'), structuredContent: { rows: validRows(bytes) } }))

/** Responses whose size the server chooses, and whose cost is measured. */
export const costlyAnswers: readonly HostileAnswer[] = [
  { name: 'deep', size: 60_000, unitBytes: 1, answer: json((size) => `"result":${'['.repeat(size)}`) },
  { name: 'wide', size: 30_000, unitBytes: 2, answer: json((size) => `"result":[${'0,'.repeat(size)}0]`) },
  { name: 'huge-text', size: 300_000, expected: 'served', answer: result(({ size }) => textResult('x'.repeat(size))) },
  {
    name: 'duplicate-keys',
    size: 8000,
    expected: 'either',
    answer: json((size) => `${'"result":{},'.repeat(size)}"a":1`),
  },
  {
    name: 'many-contents',
    size: 8000,
    expected: 'served',
    answer: result(({ size }) => ({ ...textResult('x'), content: Array(size).fill({ type: 'text', text: 'x' }) })),
  },
  {
    name: 'many-wrong-contents',
    size: 8000,
    unitBytes: 3,
    answer: result(({ size }) => ({ ...textResult('x'), content: Array(size).fill({}) })),
  },
  {
    name: 'many-wrong-tools',
    size: 4000,
    expected: 'either',
    operation: 'listTools',
    answer: result(({ size }) => toolsPage(Array(size).fill({}))),
  },
  {
    name: 'many-tools',
    size: 1000,
    expected: 'served',
    operation: 'listTools',
    answer: result(({ size }) =>
      toolsPage(
        Array.from({ length: size }, (_, index) => ({ name: `tool${index}`, inputSchema: { type: 'object' } })),
      ),
    ),
  },
  {
    name: 'many-questions',
    size: 2000,
    unitBytes: 30,
    answer: result(({ size }) => ({
      resultType: 'input_required',
      inputRequests: { ...Array(size).fill({ method: 'shell/run' }) },
    })),
  },
  {
    name: 'wide-form',
    size: 400,
    expected: 'either',
    answer: result(({ size }) => ({
      resultType: 'input_required',
      requestState: 'x',
      inputRequests: {
        a: {
          ...question,
          params: {
            ...question.params,
            requestedSchema: { type: 'object', properties: { ...Array(size).fill({ type: 'string' }) } },
          },
        },
      },
    })),
  },
  {
    name: 'many-events',
    size: 3000,
    expected: 'served',
    answer: (call) => beginEvents(call, progress().repeat(call.size)).end(textEvent(call, 'x')),
  },
  {
    name: 'many-comments',
    size: 40_000,
    expected: 'served',
    answer: (call) => beginEvents(call, ': x\n'.repeat(call.size)).end(`\n${textEvent(call, 'x')}`),
  },
  {
    name: 'bare-returns',
    size: 15_000,
    expected: 'either',
    answer: (call) => beginEvents(call, 'data:x\r'.repeat(call.size)).end(),
  },
  {
    name: 'empty-lines-of-returns',
    size: 40_000,
    expected: 'either',
    answer: (call) => beginEvents(call, '\r'.repeat(call.size)).end(),
  },
  {
    name: 'lines-of-returns-and-feeds',
    size: 15_000,
    expected: 'either',
    answer: (call) => beginEvents(call, 'data:x\r\n'.repeat(call.size)).end(),
  },
  {
    name: 'many-data-lines',
    size: 20_000,
    expected: 'either',
    answer: (call) => beginEvents(call, 'data: 1\n'.repeat(call.size)).end('\n'),
  },
  {
    name: 'one-byte-chunks',
    size: 1000,
    expected: 'served',
    answer: (call) =>
      [...`: ${'x'.repeat(call.size)}\n`].forEach((byte) =>
        call.response.headersSent ? call.response.write(byte) : beginEvents(call, byte),
      ) ?? call.response.end(`\n${textEvent(call, 'x')}`),
  },
]

/** Invalid responses of a fixed size. */
export const wrongAnswers: readonly HostileAnswer[] = [
  {
    name: 'wrong-id',
    answer: body(() => '{"jsonrpc":"2.0","id":"other","result":{"resultType":"complete","content":[]}}'),
  },
  {
    name: 'null-id',
    answer: body(() => '{"jsonrpc":"2.0","id":null,"result":{"resultType":"complete","content":[]}}'),
  },
  { name: 'no-id', answer: body(() => '{"jsonrpc":"2.0","result":{"resultType":"complete","content":[]}}') },
  {
    name: 'wrong-ids-in-events',
    answer: (call) => beginEvents(call, event(asText({ ...call, id: -1 }, '"result":{}')).repeat(500)).end(),
  },
  {
    name: 'two-answers',
    expected: 'either',
    answer: (call) => beginEvents(call, textEvent(call, 'one')).end(textEvent(call, 'two')),
  },
  {
    name: 'result-and-error',
    answer: json(() => '"result":{"resultType":"complete","content":[]},"error":{"code":1,"message":"x"}'),
  },
  ...[
    'null',
    '1',
    '"text"',
    '[]',
    '{}',
    '{"code":"1","message":"x"}',
    '{"code":1}',
    '{"code":1e999,"message":{}}',
    '{"code":0.5,"message":[]}',
    `{"code":1,"message":"x","data":${'['.repeat(200)}${']'.repeat(200)}}`,
  ].map((error, index): HostileAnswer => ({ name: `error-of-shape-${index}`, answer: json(() => `"error":${error}`) })),
  { name: 'error-of-a-megabyte', answer: json(() => `"error":{"code":1,"message":"${'x'.repeat(1_000_000)}"}`) },
  {
    name: 'keys-of-objects',
    expected: 'either',
    answer: json(
      () =>
        '"result":{"resultType":"complete","content":[],"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}},"_meta":{"__proto__":{"polluted":1}}}',
    ),
  },
  { name: 'no-json', answer: body(() => '<html>') },
  { name: 'no-utf-8', answer: body(() => Buffer.alloc(100_000, 0xff)) },
  { name: 'empty', answer: body(() => '') },
  {
    name: 'lying-length',
    answer: (call) => {
      call.response.writeHead(200, { 'content-type': 'application/json', 'content-length': '1000' }).write('{')
      setImmediate(() => call.response.destroy())
    },
  },
  { name: 'redirects', answer: ({ response }) => void response.writeHead(307, { location: '/mcp' }).end() },
  {
    name: 'redirect-elsewhere',
    answer: ({ response }) => void response.writeHead(307, { location: 'http://127.0.0.1:1/mcp' }).end(),
  },
  {
    name: 'challenge-of-commas',
    answer: ({ response }) =>
      void response.writeHead(401, { 'www-authenticate': `Bearer ${'a="b",'.repeat(1500)}` }).end(),
  },
  {
    name: 'retry-after-ages',
    answer: ({ response }) => void response.writeHead(503, { 'retry-after': '9'.repeat(300) }).end(),
  },
  { name: 'events-for-a-list', operation: 'listTools', answer: endless(progress()) },
  {
    name: 'altered-list',
    operation: 'alteredList',
    expected: 'served',
    answer: result(() => toolsPage([{ name: 'hostile', inputSchema: { type: 'object' } }], { ttlMs: 60_000 })),
  },
]

/** Responses that never end, or that repeat forever. */
export const endlessAnswers: readonly HostileAnswer[] = [
  { name: 'no-answer', answer: () => {} },
  { name: 'comments', answer: endless(`: ${'x'.repeat(10_000)}\n\n`) },
  { name: 'progress', answer: endless(progress({ message: 'x'.repeat(10_000) }).repeat(10)) },
  { name: 'small-progress', answer: endless(progress().repeat(500)) },
  { name: 'one-event', answer: endless('data: '.padEnd(60_000, 'x')) },
  { name: 'many-data-lines', answer: endless(`data: ${'x'.repeat(1000)}\n`) },
  { name: 'bare-returns', answer: endless('data:x\r'.repeat(10_000)) },
  { name: 'empty-lines', answer: endless('\r'.repeat(60_000)) },
  { name: 'ids-of-events', answer: endless(`id: ${'x'.repeat(1000)}\n\n`) },
  {
    name: 'body',
    answer: (call) => {
      call.response.writeHead(200, { 'content-type': 'application/json' })
      writeWithoutEnd(call.response, ' '.repeat(60_000))
    },
  },
  {
    name: 'body-of-an-error',
    answer: (call) => {
      call.response.writeHead(500, { 'content-type': 'text/html' })
      writeWithoutEnd(call.response, 'x'.repeat(60_000))
    },
  },
  {
    name: 'rounds',
    answer: result(() => ({
      resultType: 'input_required',
      requestState: 'x'.repeat(100_000),
      inputRequests: { a: question },
    })),
  },
  // A call may be handed off a hundred times with pauses of seconds, so the caller cancels it before.
  {
    name: 'rounds-without-questions',
    operation: 'abortedCall',
    answer: result(() => ({ resultType: 'input_required', requestState: 'x' })),
  },
  { name: 'same-cursor', operation: 'listTools', answer: result(() => toolsPage([], { nextCursor: 'again' })) },
  {
    name: 'new-cursors',
    operation: 'listTools',
    answer: result(({ id }) => toolsPage([], { nextCursor: `page ${String(id)}` })),
  },
  {
    name: 'large-pages',
    operation: 'listTools',
    answer: result(({ id }) =>
      toolsPage([{ name: `t${String(id)}`, description: 'x'.repeat(3_000_000), inputSchema: { type: 'object' } }], {
        nextCursor: `page ${String(id)}`,
      }),
    ),
  },
  {
    name: 'notifications',
    operation: 'listen',
    expected: 'either',
    answer: endless(notificationEvent('notifications/tools/list_changed', {}).repeat(200)),
  },
  {
    name: 'ended-subscriptions',
    operation: 'listen',
    expected: 'either',
    answer: (call) => beginEvents(call, ': x\n\n').end(),
  },
]
