import { posix, win32 } from 'node:path'
import { PassThrough } from 'node:stream'
import { createCall, type Exchange, type Server } from '@x/exchange'
import { type JsonObject, metaKeys, methods, protocolVersion } from '@x/schema'
import { createServer, randomKey, resourceTemplate, sealedState, tool } from '@x/server'
import { sessions } from '@x/sessions/server'
import { httpHandler } from '@x/transport-http'
import { serveStdio } from '@x/transport-stdio'
import fc from 'fast-check'
import { afterEach, describe, expect, test } from 'vitest'
import { z } from 'zod'
import { hostileObject, hostileText, hostileValue } from './hostile-values.ts'

const sessionKey = 'io.modelcontextprotocol/session'
const maxResponseLength = 10_000
const keys = [randomKey()]
const runs = { numRuns: 60 }

afterEach(() => expect(Object.keys(Object.prototype)).toEqual([]))

describe('A server responds to every message without an internal error', () => {
  test.each(
    [...Object.keys(methods), 'sessions/create', 'sessions/delete'].filter(
      (method) => method !== 'subscriptions/listen',
    ),
  )('%s', async (method) => {
    const server = hostedServer()
    const params = hostileObject('arguments', 'cursor', 'uri', 'requestState', 'inputResponses', 'ref', 'argument')
    const name = fc.constantFrom('rows', 'ask', 'file:///a', '__proto__')
    const property = fc.asyncProperty(params, name, hostileValue, async (given, named, session) => {
      const request = {
        name: named,
        uri: named,
        ...given,
        _meta: { ...meta, ...(typeof session === 'object' && { [sessionKey]: session }) },
      }
      const response = await ask(server, method, request)
      expectBoundedResponse(response, request)
      expectBoundedResponse(await ask(server, method, { ...request, _meta: meta }), request)
    })
    await fc.assert(property, runs)
  })

  test('as HTTP headers', async () => {
    const handler = httpHandler(hostedServer(), { allowedHosts: '*' })
    const value = fc
      .oneof(
        fc.string({ maxLength: 200 }),
        hostileText.map((text) => text.slice(0, 3000)),
      )
      .map(headerValue)
    const header = fc.constantFrom(
      'mcp-method',
      'mcp-name',
      'mcp-protocol-version',
      'accept',
      'content-type',
      'origin',
      'mcp-session-id',
      'mcp-param-a',
    )
    const property = fc.asyncProperty(header, value, async (name, given) => {
      const headers = new Headers({
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        'mcp-method': 'tools/list',
        'mcp-protocol-version': protocolVersion,
      })
      headers.set(name, given)
      const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/list', params: { _meta: meta } })
      const response = await handler(new Request('http://127.0.0.1/mcp', { method: 'POST', headers, body }))
      expect(response.status).toBeLessThan(500)
      expect((await response.text()).length).toBeLessThan(maxResponseLength)
    })
    await fc.assert(property)
  })

  test('as URIs of a resource template, whose variables name no path outside of a root folder', async () => {
    const read: string[] = []
    const files = resourceTemplate('file:///data/{folder}/{+path}', {
      name: 'files',
      read: ({ folder, path }) => {
        read.push(folder, path, decodeTwice(path))
        return 'read'
      },
    })
    const server = createServer({ name: 'files', version: '1.0.0', resourceTemplates: [files], log: () => {} })
    const part = fc.constantFrom(
      '..',
      '.',
      '/',
      '\\',
      '%2e',
      '%2f',
      '%5c',
      '%252e',
      '%252F',
      'C:',
      '%',
      'a',
      ' ',
      '\uff0e',
      '\uff0f',
    )
    const path = fc.oneof(
      hostileText.map((text) => text.slice(0, 3000)),
      fc.array(part, { minLength: 1, maxLength: 8 }).map((parts) => parts.join('')),
    )
    const property = fc.asyncProperty(path, async (text) => {
      const uri = `file:///data/${text}`
      expectBoundedResponse(await ask(server, 'resources/read', { uri, _meta: meta }), { uri })
    })
    await fc.assert(property, { numRuns: 2000 })
    for (const value of read) {
      expect(posix.resolve('/root', value)).toMatch(/^\/root\/./)
      expect(win32.resolve('C:\\root', value)).toMatch(/^C:\\root\\./)
    }
    expect(read.length).toBeGreaterThan(0)
  })

  test('as cursors', async () => {
    const server = hostedServer()
    const property = fc.asyncProperty(hostileText, async (cursor) => {
      expectBoundedResponse(await ask(server, 'tools/list', { cursor, _meta: meta }), { cursor })
    })
    await fc.assert(property, runs)
  })

  test('as lines of stdio, with a valid request after them', async () => {
    const property = fc.asyncProperty(fc.array(hostileText, { maxLength: 5 }), async (lines) => {
      const [input, output] = [new PassThrough(), new PassThrough()]
      await using _server = serveStdio(hostedServer(), { input, output, exit: false })
      const wanted = { jsonrpc: '2.0', id: 'wanted', method: 'tools/list', params: { _meta: meta } }
      input.write(`${lines.map((line) => line.replaceAll('\n', '')).join('\n')}\n${JSON.stringify(wanted)}\n`)
      let text = ''
      for await (const part of output.setEncoding('utf8')) {
        text += part
        if (text.includes('"id":"wanted"')) break
      }
      input.end()
    })
    await fc.assert(property, runs)
  })
})

/** Creates a server with all features that parse client input. */
function hostedServer(): Server {
  const counts = sessions({ state: { schema: z.object({ count: z.number() }), initial: { count: 0 } } })
  const rows = tool('rows', {
    description: 'Accepts rows',
    input: z.object({ rows: z.array(z.object({ a: z.string(), b: z.number() })) }),
    run: () => 'taken',
  })
  const ask = tool('ask', {
    description: 'Asks',
    run: async (_args, ctx) =>
      (await ctx.elicit('sure', { message: 'Sure?', schema: z.object({ sure: z.boolean() }) })).sure ? 'yes' : 'no',
  })
  const files = resourceTemplate('file:///{+path}', { name: 'files', read: ({ path }) => path.slice(0, 10) })
  const server = createServer({
    name: 'hosted',
    version: '1.0.0',
    tools: [rows, ask],
    resourceTemplates: [files],
    state: sealedState({ keys }),
    log: () => {},
    extensions: [counts],
  })
  return server
}

const meta = {
  [metaKeys.protocolVersion]: protocolVersion,
  [metaKeys.clientInfo]: { name: 'peer', version: '1.0.0' },
  [metaKeys.clientCapabilities]: { elicitation: {} },
}

function ask(server: Server, method: string, params: JsonObject): ReturnType<Exchange> {
  return server.exchange({ jsonrpc: '2.0', id: 1, method, params }, createCall())
}

/** Decodes a text a second time, as a careless implementation does. */
function decodeTwice(text: string): string {
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

function expectBoundedResponse(response: Awaited<ReturnType<Exchange>>, request: object): void {
  expect(response).not.toMatchObject({ error: { code: -32603 } })
  // An error may quote a part of the request, such as an unknown URI.
  expect(JSON.stringify(response).length).toBeLessThan(maxResponseLength + 2 * JSON.stringify(request).length)
}

/** Converts a text to a valid header value. */
function headerValue(text: string): string {
  return text.replaceAll(/[^\t\x20-\x7e\x80-\xff]/g, '?').trim()
}
