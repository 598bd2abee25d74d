import { inspect } from 'node:util'
import { startScriptedAuthServer } from '@tooling/auth-server/scripted'
import { type Call, callHeadersKey, type Middleware } from '@x/exchange'
import { metaKeys, protocolVersion } from '@x/schema'
import { createServer, tool, type Log } from '@x/server'
import { serveHttp } from '@x/transport-http/node'
import { expect, test, vi } from 'vitest'
import { needScopes, protect, type ProtectOptions, requireScopes } from '../src/server.ts'

const resource = 'https://items.example/mcp'

/** Everything of a value that a log could print, hidden members too. */
const print = (value: unknown): string =>
  inspect(value, { depth: 20, showHidden: true, maxStringLength: null, maxArrayLength: null })

const tools = [
  tool('show', { description: 'Shows all that it is given', run: (_, ctx) => `${print(ctx)} ${print(ctx.principal)}` }),
  tool('fail', {
    description: 'Fails',
    run(_, ctx) {
      throw new Error(`Failed for ${print(ctx)}`)
    },
  }),
  tool('lack', {
    description: 'Lacks a scope',
    run(_, ctx) {
      needScopes(ctx, 'items:erase')
      return 'erased'
    },
  }),
]

/** Collects what is written while it is in use. */
function collectOutput(written: string[]): Disposable {
  const spies = [process.stdout, process.stderr].map((stream) =>
    vi.spyOn(stream, 'write').mockImplementation((chunk) => Boolean(written.push(String(chunk)))),
  )
  for (const method of ['log', 'info', 'warn', 'error', 'debug'] as const)
    spies.push(
      vi
        .spyOn(console, method)
        .mockImplementation((...values) => void written.push(values.map(print).join(' '))) as never,
    )
  return { [Symbol.dispose]: () => spies.forEach((spy) => spy.mockRestore()) }
}

function headersOf({ context }: Call): string[] {
  const headers: string[] = []
  context.get(callHeadersKey)?.forEach((value, name) => headers.push(`${name}: ${value}`))
  return headers
}

async function post(url: string, token: string, name: string): Promise<string> {
  const _meta = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} }
  const response = await fetch(url, {
    method: 'POST',
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: {}, _meta } }),
    headers: {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': 'tools/call',
      'mcp-name': name,
    },
  })
  return `${response.status} ${print([...response.headers])} ${await response.text()}`
}

test.each(['verified here', 'introspected'])(
  'a token that is %s is in nothing that is written, said or handed on [AUE-008 AUT-046 AUS-004 AUS-028]',
  async (how) => {
    await using issuer = await startScriptedAuthServer({ aud: resource, sub: 'ada', scope: 'items:read' })
    const written: string[] = []
    using _ = collectOutput(written)
    const log: Log = (record) => void written.push(print(record))
    const watch: Middleware = (next) => async (request, call) => {
      written.push(print(request), inspect(call, { depth: 20 }), print(call.principal), ...headersOf(call))
      return next(request, call)
    }
    const introspection = { client: { id: 'items', secret: 's' } }
    const issuers: ProtectOptions['issuers'] =
      how === 'introspected' ? [{ issuer: issuer.issuer, introspection }] : [issuer.issuer]
    const auth = protect({ resource, issuers, scopes: ['items:read'] })
    const extensions = [requireScopes({ 'tools/call': { closed: ['items:write'] } })]
    const server = createServer({ name: 'items', version: '1.0.0', tools, extensions, use: [watch], log })
    await using http = await serveHttp(server, { auth })
    const send = async (token: string, names = ['show', 'fail', 'lack', 'closed', 'unknown']) => {
      for (const name of names) written.push(await post(http.url, token, name))
    }

    // Every part of a token is looked for, since a part of one would do for a signature that is not checked.
    const good = await issuer.sign({ claims: { jti: 'one' } })
    const echo = { active: true, aud: resource, sub: 'ada', scope: 'items:read', token: good, access_token: good }
    issuer.answer('/introspect', { json: echo })
    await send(good)
    const bad = [
      await issuer.sign({ claims: { aud: 'x' } }),
      await issuer.sign({ claims: { exp: 1 } }),
      await issuer.sign({ header: { kid: 'x' } }),
      `${good.slice(0, -4)}AAAA`,
      'no-jwt-but-a-canary',
    ]
    issuer.answer('/introspect', { json: { active: false } })
    for (const token of bad) await send(token, ['show'])
    issuer.break(true)
    const late = await issuer.sign({ claims: { jti: 'late' }, header: { kid: 'later' } })
    await send(late, ['show'])

    const statuses = written.filter((text) => /^\d{3} /.test(text)).map((text) => Number(text.slice(0, 3)))
    expect(statuses.slice(0, 5)).toEqual([200, 200, 403, 403, 400])
    expect(statuses.slice(5)).toEqual([401, 401, 401, 401, 401, how === 'introspected' ? 503 : expect.any(Number)])
    const all = written.join('\n')
    expect(all).toContain('TokenError')
    for (const token of [good, ...bad, late]) {
      for (const part of token.split('.')) if (part.length > 12) expect(all.includes(part), part).toBe(false)
    }
    // Nor does it go anywhere but into the body of an introspection.
    const said = issuer.requests.map(({ path, headers }) => print([path, headers])).join('\n')
    for (const token of [good, ...bad, late]) expect(said.includes(token)).toBe(false)
  },
)
