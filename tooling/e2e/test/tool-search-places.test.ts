import { requireScopes } from '@x/auth/server'
import type { Middleware, ServerExtension } from '@x/exchange'
import { gateway, type GatewayOptions } from '@x/gateway'
import { toolSearch } from '@x/gateway/tool-search'
import type { JsonObject } from '@x/schema'
import { createServer, sealedState, type ServerDefinition, tool } from '@x/server'
import { describe, expect, test } from 'vitest'
import { gatewayRule } from './searched-gateway.ts'
import { ada, answer, callTool, compareWays, type Rule, Seen, serve, through, type Way } from './searched-server.ts'
import { info, keys, plain } from './searched-tools.ts'

describe('a tool that requireScopes protects [TSR-001]', () => {
  const guard = requireScopes({ 'tools/call': { guarded: ['admin'] } })
  const own = tool('guarded', { description: 'Guarded', run: () => 'ran' })
  const inner = (needsPrincipal: boolean): ServerExtension => ({
    extends: 'server',
    name: 'inner',
    needsPrincipal,
    middleware: toolSearch({ above: 0 }).start({ info, findTool: () => undefined, headerParamsOf: () => [] }).outermost,
  })

  test.each<[place: string, reply: string, name: string, more: Partial<ServerDefinition>]>([
    ['outermost', 'insufficient_scope', 'guarded', { toolSearch: toolSearch({ above: 0 }), extensions: [guard] }],
    ['an extension', 'ran', 'call_tool', { extensions: [guard, inner(false)] }],
    ['an extension with needsPrincipal, after', 'ran', 'call_tool', { extensions: [guard, inner(true)] }],
    [
      'an extension with needsPrincipal, before',
      'insufficient_scope',
      'call_tool',
      { extensions: [inner(true), guard] },
    ],
  ])('with the search in the place of %s: %s', async (_, reply, name, more) => {
    const seen = new Seen()
    const { exchange } = createServer({ ...info, tools: [own], use: [seen.use], ...more })
    await callTool(exchange, through('guarded'), { seen, principal: ada })
    expect(seen.entries[0]).toMatchObject({ params: { name } })
    expect(JSON.stringify(seen.entries[1])).toContain(reply)
  })
})

/** An upstream outside of the process of the gateway. */
function connectTo(seen: Seen) {
  // The gateway reads the definition of a tool before a call through the search, unless a search has read it.
  const use: Middleware = (next) => (request, call) =>
    (request.method === 'tools/list' ? next : seen.use(next))(request, call)
  const { exchange } = serve(seen, { toolSearch: undefined, extensions: plain(), use: [use] })
  const closed = new AbortController().signal
  const close = async (): Promise<void> => {}
  return { connect: () => ({ exchange, closed, close, [Symbol.asyncDispose]: close }) }
}

function serveGateway(seen: Seen, upstreams: GatewayOptions['upstreams'], more: Partial<GatewayOptions> = {}) {
  const search = toolSearch({ above: 0, directFor: [] })
  return gateway({
    name: 'all',
    version: '1.0.0',
    upstreams,
    use: [seen.use],
    log: seen.note,
    state: sealedState({ keys }),
    toolSearch: search,
    ...more,
  })
}

const atGateway =
  (name: string, args: JsonObject, rest: object, more: Partial<GatewayOptions> = {}) =>
  async (way: Way, seen: Seen): Promise<void> => {
    const upstream = { ...connectTo(seen), ...rest }
    await callTool(serveGateway(seen, { crm: upstream }, more).exchange, way(name, args), { seen, principal: ada })
  }

describe('a call through the search of a gateway is for every rule a direct call [TSR-001]', () => {
  test.each<Rule>([
    gatewayRule,
    ['deny', 'Unknown tool', atGateway('crm__greet', { name: 'Ada' }, { tools: { deny: ['greet'] } })],
    ['rename', 'Hello, Ada!', atGateway('crm__hi', { name: 'Ada' }, { tools: { rename: { greet: 'hi' } } })],
    [
      'a changed pin',
      'Unknown tool',
      atGateway('crm__greet', { name: 'Ada' }, { tools: { pins: { get: () => 'other', add: () => 'other' } } }),
    ],
    [
      'a login that the caller needs',
      'https://login.test/',
      atGateway('crm__greet', { name: 'Ada' }, { credential: () => ({ loginUrl: 'https://login.test/' }) }),
    ],
    [
      'requireScopes',
      'insufficient_scope',
      atGateway('crm__greet', {}, {}, { extensions: [requireScopes({ 'tools/call': { crm__greet: ['admin'] } })] }),
    ],
    ['header parameters', 'eu', atGateway('crm__deploy', { region: 'eu' }, {})],
    [
      'a question, answered at another instance',
      'Hello, Ada!',
      async (way, seen) => {
        const instance = () => serveGateway(seen, { crm: connectTo(seen) }).exchange
        const asked = await callTool(instance(), way('crm__ask'), { seen, principal: ada })
        await callTool(instance(), { ...way('crm__ask'), ...answer(asked, { name: 'Ada' }) }, { seen, principal: ada })
      },
    ],
  ])('%s', (...rule) => compareWays(rule))
})
