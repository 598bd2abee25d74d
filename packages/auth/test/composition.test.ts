import { type ScriptedAuthServer, startScriptedAuthServer } from '@tooling/auth-server/scripted'
import { createClient } from '@x/client'
import { type Context, createServer, tool } from '@x/server'
import { randomKey, sealedState } from '@x/state-codec'
import { tasksClient } from '@x/tasks/client'
import { memoryEngine } from '@x/tasks/memory'
import { tasks } from '@x/tasks/server'
import { connectHttp } from '@x/transport-http/client'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { createProtection } from '../src/server/protect.ts'
import { needScopes, protect, requireScopes } from '../src/server.ts'

const resource = 'https://items.example/mcp'
const needed = ['items:read', 'items:write']

/** A server whose tool runs as a task, with the extensions in one of their orders. */
function createItems(order: readonly ('scopes' | 'tasks')[]) {
  const engine = memoryEngine()
  const created: string[] = []
  const worked: (string | undefined)[] = []
  const parts = {
    scopes: requireScopes({ 'tools/call': { import_items: needed } }),
    tasks: tasks({
      store: {
        ...engine,
        create: (task) => {
          created.push(task.id)
          return engine.create(task)
        },
      },
      pollIntervalMs: 20,
    }),
  }
  const importItems = tool('import_items', {
    description: 'Imports items',
    task: 'required',
    run(_, ctx) {
      needScopes(ctx, ...needed)
      worked.push(ctx.principal?.subject)
      return 'imported'
    },
  })
  const server = createServer({
    name: 'items',
    version: '1.0.0',
    tools: [importItems],
    state: sealedState({ keys: [randomKey()] }),
    extensions: order.map((name) => parts[name]),
  })
  return { server, created, worked }
}

function protectItems(issuer: ScriptedAuthServer) {
  return protect({ resource, issuers: [issuer.issuer], scopes: ['items:read'] })
}

test('/readyz is 503 until the issuer of the tokens was reached', async () => {
  await using issuer = await startScriptedAuthServer({ aud: resource })
  issuer.break(true)
  let now = 0
  const clock = { monotonicNow: () => now, setTimeout: () => undefined, clearTimeout: () => {} }
  const auth = createProtection({ resource, issuers: [issuer.issuer] }, { clock })
  const readinessOf = async () => {
    await using http = await serveHttp(createItems(['tasks']).server, { auth })
    const { status } = await fetch(new URL('/readyz', http.url))
    return status
  }
  expect(await readinessOf()).toBe(503)
  issuer.break(false)
  now += 1000
  expect(await readinessOf()).toBe(200)
})

test('what a handler asks for is one line in the log without requireScopes and HTTP, also in a task', async () => {
  const records: unknown[] = []
  const run = (_: unknown, ctx: Context): string => {
    needScopes(ctx, 'items:erase')
    return 'erased'
  }
  await using server = createServer({
    name: 'items',
    version: '1.0.0',
    tools: [
      tool('erase', { description: 'Erases', run }),
      tool('erase_all', { description: 'Erases all', task: 'required', run }),
    ],
    extensions: [tasks({ store: 'memory:', pollIntervalMs: 20 })],
    log: (record) => records.push(record),
  })
  const extensions = [tasksClient({ polling: { defaultMs: 20, minMs: 5 } })]
  const client = createClient(server, { name: 'test', version: '1.0.0', extensions })
  for (const name of ['erase', 'erase_all']) await expect(client.callTool(name)).rejects.toThrow('items:erase')
  const message = 'A caller without a principal lacks the scopes items:erase'
  const record = { level: 'warn', code: 'insufficient_scope', method: 'tools/call', message }
  expect(records).toEqual([
    expect.objectContaining({ ...record, name: 'erase', taskId: undefined }),
    expect.objectContaining({ ...record, name: 'erase_all', taskId: expect.any(String) }),
  ])
})

function clientOf({ url }: HttpServer, token: string) {
  const connection = connectHttp(url, { headers: { authorization: `Bearer ${token}` } })
  const extensions = [tasksClient({ polling: { defaultMs: 20, minMs: 5 } })]
  return createClient(connection, { name: 'test', version: '1.0.0', extensions })
}

describe.each([[['scopes', 'tasks'] as const], [['tasks', 'scopes'] as const]])('with the extensions %j', (order) => {
  test('a server that requires scopes is served beyond this machine only where callers are authenticated', async () => {
    await using issuer = await startScriptedAuthServer()
    const beyond = { host: '0.0.0.0', allowedHosts: ['items.example', '127.0.0.1'] }
    await using items = createItems(order).server
    await expect(serveHttp(items, beyond)).rejects.toThrow('give auth')
    await using http = await serveHttp(items, { ...beyond, auth: protectItems(issuer) })
    expect(http.port).toBeGreaterThan(0)
  })

  test('a task that its caller lacks a scope for is rejected when it would be created [AUE-011 AUT-054 TSK-069]', async () => {
    await using issuer = await startScriptedAuthServer({ aud: resource, sub: 'ada' })
    const { server, created, worked } = createItems(order)
    await using http = await serveHttp(server, { auth: protectItems(issuer) })
    const reader = await issuer.sign({ claims: { scope: 'items:read' } })
    await expect(clientOf(http, reader).callTool('import_items')).rejects.toMatchObject({
      rpc: { data: { reason: 'insufficient_scope', scopes: needed } },
    })
    expect([created, worked]).toEqual([[], []])

    const writer = await issuer.sign({ claims: { scope: needed.join(' ') } })
    await expect(clientOf(http, writer).callTool('import_items')).resolves.toMatchObject({
      content: [{ text: 'imported' }],
    })
    expect([created.length, worked]).toEqual([1, ['ada']])
  })
})
