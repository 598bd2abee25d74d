import { createClient, type SubscriptionEvent } from '@x/client'
import { type Exchange, serverOf } from '@x/exchange'
import { createServer, tool } from '@x/server'
import { connectStdio } from '@x/transport-stdio'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { openChildTransport } from './test-transports-stdio.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'

const host = { name: 'e2e-client', version: '1.0.0' }

describe('a server in a child process', () => {
  let program: ChildProgram
  beforeAll(async () => {
    program = await bundleProgram(new URL('./programs/our-server.ts', import.meta.url))
  })
  afterAll(() => program?.[Symbol.asyncDispose]())

  test('is one process for all clients and calls of its connection [BAS-030]', async () => {
    await using connection = connectStdio({ command: process.execPath, args: [program.path] })
    const pids = new Set<number | undefined>()
    for (const name of ['Ada', 'Grace', 'Edsger']) {
      const client = createClient(connection, { ...host, name })
      expect(textOf(await client.callTool('greet', { name }))).toBe(`Hello, ${name}!`)
      pids.add(connection.process.pid)
    }
    expect([pids.size, connection.process.restartCount]).toEqual([1, 0])
  })

  test('is subscribed to again after it was killed, and missed changes are reported [STD-014 STD-015 SUB-011]', async () => {
    await using connection = connectStdio({ command: process.execPath, args: [program.path] })
    const client = createClient(connection, host)
    const seen: SubscriptionEvent[] = []
    for await (const event of client.listen({ toolsListChanged: true }, { reopen: { pauseMs: 10 } })) {
      seen.push(event)
      if (event.type === 'toolsListChanged') break
      if (event.type !== 'opened') continue
      if (event.mayHaveMissedChanges) await client.callTool('change')
      else process.kill(connection.process.pid ?? 0, 'SIGKILL')
    }
    expect(seen).toMatchObject([
      { type: 'opened', mayHaveMissedChanges: false },
      ...seen.slice(1, -2).map(() => ({ type: 'interrupted' })),
      { type: 'opened', mayHaveMissedChanges: true },
      { type: 'toolsListChanged' },
    ])
    expect(seen.length).toBeGreaterThan(3)
    expect(connection.process.restartCount).toBe(1)
  })
})

test('a process receives server/discover first, and only once for all calls [VER-007 VER-009 STD-019]', async () => {
  const greet = tool('greet', { description: 'Greets', run: () => 'Hello' })
  const server = createServer({ ...host, tools: [greet] })
  const methods: string[] = []
  const observed: Exchange = (request, call) => {
    methods.push(request.method)
    return server.exchange(request, call)
  }
  await using transport = await openChildTransport(serverOf(observed, server))
  const exchange = transport.exchangeFor(undefined)
  const clients = [createClient(exchange, host), createClient(exchange, host)]
  await Promise.all([...clients, ...clients].map((client) => client.callTool('greet')))
  for (const client of clients) await client.callTool('greet')
  expect(methods).toEqual(['server/discover', ...Array(6).fill('tools/call')])
})
