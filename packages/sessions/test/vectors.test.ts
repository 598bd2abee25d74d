import { readFileSync } from 'node:fs'
import { createCall } from '@x/exchange'
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  metaKeys,
  protocolVersion,
  type RpcRequest,
  type RpcResponse,
} from '@x/schema'
import { createServer, tool } from '@x/server'
import type { StateCodec } from '@x/state-codec'
import { createClient } from '@x/client'
import { isSessionNotFound, sessionsClient } from '@x/sessions/client'
import { sessions as serverSessions } from '@x/sessions/server'
import { expect, test } from 'vitest'
import { z } from 'zod'

interface Vector {
  readonly request: RpcRequest
  readonly response: JsonObject
}

const vector = (name: string): Vector => {
  const file = new URL(`vectors/${name}.json`, import.meta.url)
  const { request, response } = JSON.parse(readFileSync(file, 'utf8'))
  return { request, response }
}

const ids = ['sess-abc123', 'sess-a1b2c3d4e5f6']
const begun = Date.UTC(2026, 1, 28)

/** Writes ids and states as the vectors have them: an id is a name, a state the Base64 of its JSON. */
const codecOfVectors: StateCodec = {
  async seal(value: JsonValue, { purpose }) {
    if (purpose === 'session') return ids[0] ?? ''
    return btoa(JSON.stringify(Array.isArray(value) ? value[1] : value))
  },
  async open(token, { purpose }) {
    if (purpose !== 'session') return [1, JSON.parse(atob(token))]
    if (ids.includes(token)) return [begun, begun + 86_400_000, 'x']
    throw new Error('unknown')
  },
}

const server = () => {
  const sessions = serverSessions({
    state: { schema: z.object({ k: z.string() }), initial: { k: 'v' } },
    onCreate: () => ({ k: 'v' }),
  })
  const echo = tool('echo', {
    description: 'Says it',
    input: z.object({ msg: z.string() }),
    run({ msg }, ctx) {
      sessions.of(ctx).setState({ k: 'v2' })
      return msg
    },
  })
  const own = { state: codecOfVectors, runtime: { now: () => begun } }
  return createServer({ name: 'demo', version: '1', ...own, tools: [echo], extensions: [sessions] })
}

/** The request of a vector, with what the published revision requires of every request. */
const required = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} }
const complete = ({ request }: Vector): RpcRequest => {
  const meta = request.params?.['_meta']
  return { ...request, params: { ...request.params, _meta: { ...(isJsonObject(meta) ? meta : {}), ...required } } }
}

/** Returns a response without the name of its server, which the vectors leave out. */
const withoutServerInfo = (response: RpcResponse): unknown => {
  if (!('result' in response) || !isJsonObject(response.result['_meta'])) return response
  const { [metaKeys.serverInfo]: _serverInfo, ...meta } = response.result['_meta']
  const { _meta, ...result } = response.result
  return { ...response, result: Object.keys(meta).length === 0 ? result : { ...result, _meta: meta } }
}

/** The published revision says of every result what type it is, and our dates have milliseconds. */
const asPublished = (response: JsonObject): unknown => {
  const text = JSON.stringify(response).replaceAll(':00Z"', ':00.000Z"')
  const { result, ...rest } = JSON.parse(text)
  return result === undefined ? rest : { ...rest, result: { resultType: 'complete', ...result } }
}

test.each([
  ['session-creation [SES-002]'],
  ['session-usage [SES-006 SES-007 SES-008]'],
  ['session-not-found [SES-012]'],
  ['session-deletion [SES-011]'],
])('the server answers the vector %s', async (title) => {
  const one = vector(title.split(' ')[0] ?? '')
  expect(withoutServerInfo(await server().exchange(complete(one), createCall()))).toEqual(asPublished(one.response))
})

test('the client sends the requests of the vectors, and takes their responses [SES-003 SES-005 SES-009 SES-011 SES-013]', async () => {
  const [creation, usage, notFound] = ['session-creation', 'session-usage', 'session-not-found'].map(vector)
  const sent: JsonObject[] = []
  const answers = [creation, usage, usage, notFound].map((one) => one?.response)
  const client = createClient(
    async ({ id, method, params }) => {
      const { _meta, ...others } = params ?? {}
      const {
        [metaKeys.protocolVersion]: _version,
        [metaKeys.clientInfo]: _clientInfo,
        ...meta
      } = isJsonObject(_meta) ? _meta : {}
      sent.push({ method, ...others, session: meta['io.modelcontextprotocol/session'] })
      const response = JSON.parse(JSON.stringify(answers.shift()).replaceAll('sess-invalid', 'sess-abc123'))
      return { ...response, id }
    },
    { name: 'host', version: '1.0.0', extensions: [sessionsClient()] },
  )
  const session = await client.sessions.create()
  const args = { msg: 'hi' }
  await session.callTool('echo', args)
  await session.callTool('echo', args)
  const [, first, second] = sent
  expect(sent[0]).toEqual({ method: 'sessions/create', session: undefined })
  const { _meta, ...asked } = usage?.request.params ?? {}
  expect(first).toEqual({
    method: 'tools/call',
    ...asked,
    session: { sessionId: 'sess-abc123', state: 'eyJrIjoidiJ9' },
  })
  expect(isJsonObject(_meta) && _meta['io.modelcontextprotocol/session']).toEqual(first?.session)
  expect(second?.session).toEqual({ sessionId: 'sess-abc123', state: 'eyJrIjoidjIifQ==' })
  const failure: unknown = await session.callTool('echo', {}).catch((error: unknown) => error)
  expect([isSessionNotFound(failure), session.ended]).toEqual([true, true])
})
