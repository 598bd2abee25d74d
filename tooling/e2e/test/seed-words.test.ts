import { createClient } from '@x/client'
import { createCall, type Exchange } from '@x/exchange'
import { type JsonObject, metaKeys, protocolVersion, type RpcRequest } from '@x/schema'
import { createServer, tool } from '@x/server'
import { sessions } from '@x/sessions/server'
import { describe, expect, test } from 'vitest'
import * as z from 'zod'

const text = 'Bug #4522 resolved as Duplicate of Bug #4301. State set to Resolved and duplicate link created.'
const update = { workItemId: 4522, fields: { 'System.State': 'Resolved' } }

const elicitation = (message: string, properties: JsonObject): JsonObject => ({
  method: 'elicitation/create',
  params: {
    mode: 'form',
    message,
    requestedSchema: { type: 'object', properties, required: Object.keys(properties) },
  },
})

/** The results of the server in the document, round by round. */
const rounds: readonly JsonObject[] = [
  {
    resultType: 'input_required',
    inputRequests: {
      resolution: elicitation('Resolving Bug #4522 requires a resolution. How was this bug resolved?', {
        resolution: {
          type: 'string',
          enum: ['Fixed', "Won't Fix", 'Duplicate', 'By Design'],
          description: 'Resolution type for this bug',
        },
      }),
    },
    requestState: 'eyJzdGF0ZSI6IlJlc29sdmVkIn0=',
  },
  {
    resultType: 'input_required',
    inputRequests: {
      duplicate_of: elicitation('Since this is a duplicate, which work item is the original?', {
        duplicateOfId: { type: 'number', description: 'Work item ID of the original bug' },
      }),
    },
    requestState: 'eyJyZXNvbHV0aW9uIjoiRHVwbGljYXRlIn0=',
  },
  // A result without a type is complete.
  { content: [{ type: 'text', text }] },
]

describe('SEP-2322, the messages of the client', () => {
  test('each retry is a separate request with the answers of its round and its unchanged state [MRT-018 MRT-020 BAS-011]', async () => {
    const sent: RpcRequest[] = []
    const exchange: Exchange = async (request) => {
      sent.push(request)
      return { jsonrpc: '2.0', id: request.id, result: rounds[sent.length - 1] ?? {} }
    }
    const client = createClient(exchange, {
      name: 'host',
      version: '1.0.0',
      elicit: async ({ message }) => ({
        action: 'accept',
        content: message.startsWith('Resolving') ? { resolution: 'Duplicate' } : { duplicateOfId: 4301 },
      }),
    })
    const result = await client.callTool('update_work_item', update)
    expect(result.content).toEqual([{ type: 'text', text }])
    expect(sent.map(({ params }) => [params?.['inputResponses'], params?.['requestState']])).toEqual([
      [undefined, undefined],
      [{ resolution: { action: 'accept', content: { resolution: 'Duplicate' } } }, rounds[0]?.['requestState']],
      [{ duplicate_of: { action: 'accept', content: { duplicateOfId: 4301 } } }, rounds[1]?.['requestState']],
    ])
    for (const { method, params } of sent) {
      expect([method, params?.['name'], params?.['arguments']]).toEqual(['tools/call', 'update_work_item', update])
    }
    expect(new Set(sent.map(({ id }) => id)).size).toBe(3)
    await client.close()
  })
})

const sessionKey = 'io.modelcontextprotocol/session'

describe('data-layer sessions, the echo example', () => {
  const kind = sessions({
    state: { schema: z.object({ k: z.string() }), initial: { k: 'v' } },
  })
  const echo = tool('echo', {
    description: 'Returns a message',
    input: z.object({ msg: z.string() }),
    run({ msg }, ctx) {
      kind.of(ctx).setState({ k: 'v2' })
      return msg
    },
  })
  const { exchange } = createServer({
    name: 'seeds',
    version: '1.0.0',
    state: false,
    tools: [echo],
    extensions: [kind],
  })
  const send = (id: number, method: string, params: JsonObject, session?: JsonObject) => {
    const _meta = {
      [metaKeys.protocolVersion]: protocolVersion,
      [metaKeys.clientCapabilities]: {},
      ...(session && { [sessionKey]: session }),
    }
    return exchange({ jsonrpc: '2.0', id, method, params: { ...params, _meta } }, createCall({}))
  }
  const call = { name: 'echo', arguments: { msg: 'hi' } }

  test('a session is created and used, and the result names it with its new state [SES-002 SES-007 SES-009]', async () => {
    const created = await send(1, 'sessions/create', {})
    const session = { sessionId: expect.any(String), expiresAt: expect.any(String), state: expect.any(String) }
    expect(created).toMatchObject({ id: 1, result: { session } })
    const { sessionId, state } = (created as unknown as { result: { session: Record<string, string> } }).result.session
    const used = await send(2, 'tools/call', call, { sessionId: String(sessionId), state: String(state) })
    expect(used).toMatchObject({
      id: 2,
      result: { content: [{ type: 'text', text: 'hi' }], _meta: { [sessionKey]: { ...session, sessionId } } },
    })
    expect(JSON.stringify(used)).not.toContain(String(state))
  })

  test('an unknown session is an error that names it [SES-012]', async () => {
    expect(await send(3, 'tools/call', call, { sessionId: 'sess-invalid' })).toEqual({
      jsonrpc: '2.0',
      id: 3,
      error: { code: -32043, message: 'Session not found', data: { sessionId: 'sess-invalid' } },
    })
  })
})
