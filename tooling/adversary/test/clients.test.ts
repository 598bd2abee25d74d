import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { createClient, isClientError } from '@x/client'
import { platformRuntime } from '@x/core'
import { createCall, type Exchange } from '@x/exchange'
import { isResponse, parseMessage } from '@x/schema'
import { connectHttp, isHttpError } from '@x/transport-http/client'
import { connectStreams } from '@x/transport-stdio'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { hostileObject, hostileText } from './hostile-values.ts'

const runs = { numRuns: 60 }

afterEach(() => expect(Object.keys(Object.prototype)).toEqual([]))

describe('A client rejects with its own error for every invalid response', () => {
  const operations = {
    callTool: (exchange: Exchange) => clientOf(exchange).callTool('a'),
    discover: (exchange: Exchange) => clientOf(exchange).discover(),
    getPrompt: (exchange: Exchange) => clientOf(exchange).getPrompt('a'),
    listTools: (exchange: Exchange) => clientOf(exchange).listTools(),
    listPrompts: (exchange: Exchange) => clientOf(exchange).listPrompts(),
    listResources: (exchange: Exchange) => clientOf(exchange).listResources(),
    readResource: (exchange: Exchange) => clientOf(exchange).readResource('file:///a'),
  }

  test.each(Object.entries(operations))('%s', async (_title, operation) => {
    const result = hostileObject(
      'content',
      'tools',
      'prompts',
      'resources',
      'contents',
      'inputRequests',
      'requestState',
      'messages',
      'nextCursor',
    )
    const type = fc.constantFrom({ resultType: 'complete' }, { resultType: 'input_required' }, {})
    const property = fc.asyncProperty(result, type, fc.boolean(), async (given, kind, isError) => {
      const exchange: Exchange = async ({ id }) => {
        // A transport passes only parsed messages.
        const outcome = isError ? { error: given } : { result: { ...kind, ...given } }
        const message = parseMessage(JSON.stringify({ jsonrpc: '2.0', id, ...outcome }))
        if (isResponse(message)) return message
        throw new Error('not a response')
      }
      const error: unknown = await operation(exchange).then(
        () => undefined,
        (thrown: unknown) => thrown,
      )
      if (error !== undefined) expect(isClientError(error), String(error)).toBe(true)
    })
    await fc.assert(property, runs)
  })

  test('lines of stdio', async () => {
    const property = fc.asyncProperty(fc.array(hostileText, { maxLength: 5 }), async (lines) => {
      const [input, output] = [new PassThrough(), new PassThrough()]
      await using connection = connectStreams({ input, output })
      const request = { jsonrpc: '2.0', id: 'mine', method: 'tools/list' } as const
      const answer = connection.exchange(request, createCall())
      const [sent] = await once(output, 'data')
      const { id } = JSON.parse(String(sent))
      input.write(lines.map((line) => `${line.replaceAll('\n', '')}\n`).join(''))
      input.write(`${JSON.stringify({ jsonrpc: '2.0', id, result: { text: 'valid' } })}\n`)
      expect(await answer).toMatchObject({ id: 'mine' })
      input.end()
    })
    await fc.assert(property, runs)
  })

  test('an event stream with any lines, line endings and chunks', async () => {
    const line = fc.oneof(
      fc.constantFrom(':', 'data', 'data:', 'event: ping', 'id: 1', 'retry: 9', ''),
      hostileText.map((text) => `data: ${text.slice(0, 5000)}`),
    )
    const end = fc.constantFrom('\n', '\r', '\r\n', '\n\n', '\r\r')
    const property = fc.asyncProperty(
      fc.array(fc.tuple(line, end), { maxLength: 20 }),
      fc.integer({ min: 1, max: 500 }),
      async (lines, size) => {
        const bytes = new TextEncoder().encode(lines.flat().join(''))
        await expectHttpError(bytes, size)
      },
    )
    await fc.assert(property, runs)
  })
})

function clientOf(exchange: Exchange): ReturnType<typeof createClient> {
  const elicit = (): { action: 'decline' } => ({ action: 'decline' })
  return createClient(exchange, {
    name: 'client',
    version: '1.0.0',
    maxResendMs: 0,
    runtime: { ...platformRuntime, setTimeout: (run) => platformRuntime.setTimeout(run, 0) },
    elicit,
    openUrl: elicit,
  })
}

/** Sends a request, responds with the bytes in chunks of a size, and expects an `HttpError`. */
async function expectHttpError(bytes: Uint8Array, size: number): Promise<void> {
  const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, index) =>
    bytes.slice(index * size, (index + 1) * size),
  )
  const headers = { 'content-type': 'text/event-stream' }
  const fetch = async (): Promise<Response> => new Response(ReadableStream.from(chunks), { headers })
  await using connection = connectHttp('http://127.0.0.1/mcp', { fetch, retry: false })
  const request = { jsonrpc: '2.0', id: 'unknown', method: 'tools/list' } as const
  const error: unknown = await connection.exchange(request, createCall()).catch((thrown: unknown) => thrown)
  expect(isHttpError(error), String(error)).toBe(true)
}
