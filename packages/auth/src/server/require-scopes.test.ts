import type { LogRecord } from '@x/core'
import { createCall, type Exchange, type Middleware, type Principal, transportKey, withContext } from '@x/exchange'
import { type JsonObject, toWire } from '@x/schema'
import { expect, test } from 'vitest'
import { needScopes, requireScopes, type RequireScopesOptions, type ScopeRules } from '../server.ts'
import { createProtectedServer } from '../testing/protected.ts'

const next: Exchange = async ({ id }) => ({ jsonrpc: '2.0', id, result: { resultType: 'complete' } })

interface Asked {
  readonly method?: string
  readonly params?: JsonObject
  readonly principal?: Principal
  readonly options?: RequireScopesOptions
  readonly over?: 'http' | 'stdio' | 'memory'
}

/** The middleware of the extension, which `createServer` puts around a server. */
function middlewareOf(rules: ScopeRules, options?: RequireScopesOptions, names: readonly string[] = []): Middleware {
  // The extension uses no other members of its host.
  const tools = () => names.map((name) => ({ name, definition: {} }))
  const offers = () => ({ name: undefined })
  const { middleware } = requireScopes(rules, options).start?.({ log, tools, offers } as never) ?? {}
  if (middleware === undefined) throw new Error('requireScopes has no middleware')
  return middleware
}

const records: LogRecord[] = []
const log = (record: LogRecord): void => void records.push(record)

/** The scopes that a request lacks, or undefined when it is accepted. */
async function lacking(rules: ScopeRules, asked: Asked): Promise<unknown> {
  const { method = 'tools/call', params = {}, principal, options, over = 'http' } = asked
  const plain = createCall({ principal })
  const call = over === 'memory' ? plain : withContext(plain, transportKey, over)
  const response = await middlewareOf(rules, options)(next)({ jsonrpc: '2.0', id: 1, method, params }, call)
  return 'error' in response ? response.error.data : undefined
}

const reader = { subject: 'ada', scopes: ['items:read'] }
const writer = { subject: 'ada', scopes: ['items:read', 'items:write'] }
const byName = { 'tools/call': { update_item: ['items:read', 'items:write'] } }

test('it is an extension whose server needs to know who asks', () => {
  const { extends: half, name, needsPrincipal, identifier } = requireScopes(byName)
  expect([half, name, needsPrincipal, identifier]).toEqual(['server', 'scopes', true, expect.stringContaining('/')])
})

test('a tool needs its scopes, and the answer names all of them at once [AUT-054 AUT-055 AUE-011]', async () => {
  const params = { name: 'update_item' }
  expect(await lacking(byName, { params, principal: reader })).toEqual({
    reason: 'insufficient_scope',
    scopes: ['items:read', 'items:write'],
  })
  const record = { level: 'warn', code: 'insufficient_scope', method: 'tools/call', name: 'update_item', requestId: 1 }
  expect(records.splice(0)).toEqual([{ ...record, principal: 'ada', message: 'ada lacks the scopes items:write' }])
  expect(await lacking(byName, { params, principal: writer })).toBeUndefined()
  expect(await lacking(byName, { params: { name: 'list_items' }, principal: reader })).toBeUndefined()
  expect(await lacking(byName, { params: { name: 'constructor' }, principal: reader })).toBeUndefined()
  expect(records).toEqual([])
})

test('names that are not listed may need scopes too', async () => {
  const rules = { 'tools/call': { '*': ['items:write'], list_items: [] } }
  expect(await lacking(rules, { params: { name: 'other' }, principal: reader })).toBeDefined()
  expect(await lacking(rules, { params: {}, principal: reader })).toBeDefined()
  expect(await lacking(rules, { params: { name: ['list_items'] }, principal: reader })).toBeDefined()
  expect(await lacking(rules, { params: { name: 'list_items' }, principal: reader })).toBeUndefined()
})

test('resources need scopes by their URI, methods as a whole, and requests by what they say [AUT-054]', async () => {
  const rules: ScopeRules = {
    'resources/read': { 'notes://secret': ['notes:secret'] },
    'prompts/get': ['prompts'],
    'tools/call': ({ arguments: given }) => (isLarge(given) ? ['items:bulk'] : []),
    'tasks/cancel': ['tasks'],
  }
  expect(
    await lacking(rules, { method: 'resources/read', params: { uri: 'notes://secret' }, principal: reader }),
  ).toBeDefined()
  expect(
    await lacking(rules, { method: 'resources/read', params: { uri: 'notes://a' }, principal: reader }),
  ).toBeUndefined()
  expect(await lacking(rules, { method: 'prompts/get', params: { name: 'a' }, principal: reader })).toBeDefined()
  expect(await lacking(rules, { params: { arguments: { count: 99 } }, principal: reader })).toBeDefined()
  expect(await lacking(rules, { params: { arguments: { count: 1 } }, principal: reader })).toBeUndefined()
  expect(await lacking(rules, { method: 'tasks/cancel', principal: reader })).toBeDefined()
  expect(await lacking(rules, { method: 'tools/list', principal: reader })).toBeUndefined()
})

function isLarge(given: unknown): boolean {
  return typeof given === 'object' && given !== null && 'count' in given && Number(given.count) > 10
}

test('a scope includes what it implies [AUT-061]', async () => {
  const options = { impliedScopes: { 'items:admin': ['items:write'], 'items:write': ['items:read'] } }
  const admin = { subject: 'ada', scopes: ['items:admin'] }
  const params = { name: 'update_item' }
  expect(await lacking(byName, { params, principal: admin, options })).toBeUndefined()
  expect(await lacking(byName, { params, principal: { subject: 'ada' }, options })).toBeDefined()
})

test('a call without a principal has no scopes, unless it is the trusted host over stdio', async () => {
  const params = { name: 'update_item' }
  const options = { stdio: 'trusted' } as const
  expect(await lacking(byName, { params })).toBeDefined()
  expect(await lacking(byName, { params, over: 'stdio' })).toBeDefined()
  expect(await lacking(byName, { params, over: 'stdio', options })).toBeUndefined()
  expect(await lacking(byName, { params, over: 'http', options })).toBeDefined()
  expect(await lacking(byName, { params, over: 'memory', options })).toBeDefined()
  expect(await lacking(byName, { params, over: 'stdio', options, principal: reader })).toBeDefined()
})

test.each<[string, ScopeRules, string]>([
  ['a method that is misspelt', { 'tools/cal': [] }, 'There is no method "tools/cal"'],
  ['names where there are none', { 'tools/list': { a: ['b'] } }, 'about no name'],
  ['a scope with a space', { 'tools/call': ['a b'] }, 'visible ASCII'],
  ['a scope that is no list', { 'tools/call': { a: 'b' as never } }, 'an array of scopes'],
  ['a rule that is none', { 'tools/call': 'a' as never }, 'must be an array'],
])('%s is refused when the rules are made', (_, rules, message) => {
  expect(() => requireScopes(rules)).toThrow(message)
})

test('a rule that fails, or gives no scopes, lets nothing through', async () => {
  const rules = { 'tools/call': () => 'items:write' as never }
  await expect(lacking(rules, { principal: writer })).rejects.toThrow('an array of scopes')
})

test('a handler asks for scopes in the same way [AUE-011]', () => {
  expect(() => needScopes({ principal: writer }, 'items:read', 'items:write')).not.toThrow()
  for (const principal of [reader, undefined]) {
    const error = thrownBy(() => needScopes({ principal }, 'items:read', 'items:write'))
    expect(toWire(error).data).toEqual({ reason: 'insufficient_scope', scopes: ['items:read', 'items:write'] })
  }
  expect(() => needScopes({ principal: reader })).not.toThrow()
  // As a function without types may take it from the claims: a part of the text must not count as a scope.
  const principal = Object({ subject: 'ada', scopes: 'items:readonly' })
  expect(() => needScopes({ principal }, 'items:read')).toThrow('scopes of a principal must be an array')
})

function thrownBy(run: () => void): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

test('over HTTP it is 403 with a challenge of all that the operation needs [AUT-052 AUT-053 AUT-054 AUE-011]', async () => {
  const middleware = middlewareOf({ 'tools/call': { update_item: ['items:write', 'items:audit'] } })
  await using server = await createProtectedServer({ middleware })
  const token = await server.issuer.sign()
  const response = await server.send(token, { method: 'tools/call', params: { name: 'update_item' } })
  expect([response.status, response.headers.get('www-authenticate')]).toEqual([
    403,
    'Bearer error="insufficient_scope", scope="items:read items:write items:audit", resource_metadata="https://mcp.example.com/.well-known/oauth-protected-resource/mcp"',
  ])
  expect(await response.json()).toMatchObject({ id: 1, error: { data: { reason: 'insufficient_scope' } } })
  expect(server.principals).toEqual([])
  const wider = await server.issuer.sign({ claims: { scope: 'items:read items:write items:audit' } })
  expect((await server.send(wider, { method: 'tools/call', params: { name: 'update_item' } })).status).toBe(200)
})

test('over HTTP, what a handler asks for is one line in the log, with requireScopes and without [AUE-011]', async () => {
  const failing: Exchange = async ({ id }, call) => {
    if (call.context.get(transportKey) !== 'http') throw new Error('not over HTTP')
    return {
      jsonrpc: '2.0',
      id,
      error: toWire(thrownBy(() => needScopes({ principal: call.principal }, 'items:read', 'items:erase'))),
    }
  }
  for (const wrap of [(exchange: Exchange) => exchange, middlewareOf({})]) {
    records.length = 0
    await using server = await createProtectedServer({ middleware: () => wrap(failing) })
    const call = { method: 'tools/call', params: { name: 'erase' } }
    expect((await server.send(await server.issuer.sign(), call)).status).toBe(403)
    const record = { level: 'warn', code: 'insufficient_scope', method: 'tools/call', name: 'erase', requestId: 1 }
    expect([...records, ...server.records]).toEqual([
      { ...record, principal: 'ada', message: 'ada lacks the scopes items:erase' },
    ])
  }
})

test('errors of other kinds are not changed', async () => {
  await using server = await createProtectedServer()
  const { toHttpError } = server.auth
  for (const data of [
    undefined,
    null,
    'insufficient_scope',
    { reason: 'overloaded' },
    { reason: 'insufficient_scope' },
  ])
    expect(toHttpError({ code: 1, message: 'no', ...(data !== undefined && { data }) })).toBeUndefined()
})

test('a rule for a tool that the server does not have is in the log, because it protects nothing', () => {
  records.length = 0
  const rule = { update_itm: ['items:write'], update_item: ['items:write'], '*': ['items:read'] }
  middlewareOf({ 'tools/call': rule }, {}, ['update_item'])
  expect(records).toMatchObject([{ level: 'warn', message: expect.stringMatching(/does not have: update_itm$/) }])
  middlewareOf({ 'prompts/get': { reviw: ['items:read'] } }, {}, ['update_item'])
  expect(records[1]?.message).toMatch(/for prompts that the server does not have: reviw$/)
})
