import { pageRedirect } from '@x/auth/client'
import { loopbackRedirect } from '@x/auth/node'
import { createClient } from '@x/client'
import type { Connection } from '@x/exchange'
import { gateway, type GatewayUpstreamOptions } from '@x/gateway'
import { createServer, type ServerDefinition, tool } from '@x/server'
import { sessionResources } from '@x/sessions/server'
import { randomKey, sealedState } from '@x/state-codec'
import { connectHttp, type HttpConnectOptions } from '@x/transport-http/client'
import { expect, test } from 'vitest'
import { eachFailing, isFromFailure } from './failing-function.ts'

const info = { name: 'demo', version: '1.0.0' }
const state = sealedState({ keys: [randomKey()] })
const ask = tool('ask', { description: 'Answers', run: () => 'ok' })
const createDemoServer = (definition: Partial<ServerDefinition>) =>
  createServer({ ...info, log: () => {}, state, ...definition })
const never = new AbortController().signal
const remote = createDemoServer({ tools: [ask] })
const connection: Connection = {
  exchange: remote.exchange,
  closed: never,
  close: async () => {},
  [Symbol.asyncDispose]: async () => {},
}
const upstreamOf = (own: Partial<GatewayUpstreamOptions>) =>
  gateway({
    ...info,
    state,
    log: () => {},
    upstreams: { crm: { connect: () => connection, ...own } },
  })

/** A client over HTTP whose options fail before anything is sent. */
const callOverHttp = (options: HttpConnectOptions) =>
  createClient(connectHttp('http://127.0.0.1:9/mcp', { retry: false, ...options }), {
    ...info,
    maxResendMs: 0,
  }).discover()

test.each(
  eachFailing<() => Promise<unknown>>({
    'headers of connectHttp': (headers) => () => callOverHttp({ headers }),
    'headers of an authorizer': (headers) => () => callOverHttp({ auth: { headers, onResponse: () => undefined } }),
    'onResponse of an authorizer': (onResponse) => () =>
      callOverHttp({
        auth: { headers: () => ({}), onResponse },
        fetch: async () => new Response(null, { status: 401 }),
      }),
    'fetch of connectHttp': (fetch) => () => callOverHttp({ fetch }),
    'open of sessionResources': (open) => () =>
      sessionResources({ open, close: () => {} }).of({ id: 'a', expiresAt: Date.now() + 1000 }),
    'showLoginUrl of loopbackRedirect': (showLoginUrl) => async () => {
      const listener = await loopbackRedirect({ open: () => {}, showLoginUrl }).open(never)
      try {
        await listener.visit(new URL('https://a.example/'), 'state')
      } finally {
        await listener.close()
      }
    },
    'assign of pageRedirect': (assign) => async () =>
      (await pageRedirect({ uri: 'http://localhost/a', assign }).open(never)).visit(new URL('https://a.example/'), 'a'),
    'compileSchema of a server': (compileSchema) => async () =>
      createDemoServer({
        compileSchema,
        tools: [tool('a', { description: 'a', input: { type: 'object' }, run: () => 'a' })],
      }),
  }),
)('if %s, its caller gets the error [ROB-003]', async (_, run) => {
  await expect(run()).rejects.toSatisfy(isFromFailure)
})

test.each(
  eachFailing<Partial<GatewayUpstreamOptions>>({
    credential: (credential) => ({ credential }),
    connect: (connect) => ({ connect }),
    'get of pins': (get) => ({ tools: { pins: { get, add: get } } }),
  }),
)('if %s of an upstream, its call fails and the gateway goes on [ROB-003]', async (_, own) => {
  await using server = upstreamOf(own)
  const client = createClient(server, { ...info, log: () => {}, maxResendMs: 0 })
  await expect(client.callTool('crm_ask')).rejects.toThrow('answered')
  expect(await client.listTools()).toEqual(expect.any(Array))
})
