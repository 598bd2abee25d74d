import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createClient, isClientError } from '@x/client'
import { createServer, type McpServer, type SheddingOptions, tool } from '@x/server'
import { sheddingSettings } from '@x/server/internals'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { keys, stateWith, textOf } from './asking.ts'
import { startFleet } from './fleet.ts'
import { overEveryTransport } from './over-every-transport.ts'
import { startTcpBalancer } from './tcp-balancer.ts'

const host = { name: 'e2e-client', version: '1.0.0' }

/** Creates a tool of eight steps. `ran` records the steps that ran. */
function longTool(ran: string[]) {
  return tool('long', {
    description: 'Works in steps',
    run: async (_, ctx) => {
      const total = ctx.checkpoint('total', 0)
      for (let index = 0; index < 8; index++) {
        const done = await ctx.step(`step/${index}`, () => ran.push(`step/${index}`))
        if (total.value < done) await total.save(done)
      }
      return `${total.value} of 8, started at ${ctx.now()}`
    },
  })
}

/** Sheds each call a number of times, at its first opportunities. */
function shedding(times: number, calls: 'all' | 'resumable' = 'all'): SheddingOptions {
  return sheddingSettings({ calls, minWorkMs: 0, policy: (_, { shedCount }) => shedCount < times })
}

function definitionOf(ran: string[], times: number) {
  const startedAt = Date.now()
  return {
    tools: [longTool(ran)],
    state: stateWith(keys.first),
    runtime: { now: () => startedAt },
    shedding: shedding(times),
  }
}

overEveryTransport('a call that is shed', (serve) => {
  test('ends with the same result over three instances, and each step is done once', async () => {
    const ran: string[] = []
    const definition = definitionOf(ran, 5)
    await using sheddingFleet = await startFleet(serve, [definition, definition, definition])
    await using plainFleet = await startFleet(serve, [{ ...definition, shedding: false }])
    const shedResult = await createClient(sheddingFleet.exchange, host).callTool('long')
    expect(ran.splice(0)).toHaveLength(8)
    const plainResult = await createClient(plainFleet.exchange, host).callTool('long')
    expect(JSON.stringify(shedResult)).toBe(JSON.stringify(plainResult))
    expect(textOf(shedResult)).toContain('8 of 8')
    expect([sheddingFleet.served, plainFleet.served]).toEqual([[2, 2, 2], [1]])
  })
})

describe('over HTTP', () => {
  function serverOf(ran: string[], options: SheddingOptions): McpServer {
    const { tools, state } = definitionOf(ran, 0)
    return createServer({ name: 'ours', version: '1.0.0', tools, state, shedding: options, strictReplay: false })
  }

  test('the official client completes a call that is shed five times', async () => {
    const ran: string[] = []
    // The HTTP transport reports that a retry may reach another instance, so no option is set.
    await using http = await serveHttp(serverOf(ran, shedding(5, 'resumable')))
    const client = new Client(
      { name: 'official', version: '1.0.0' },
      { versionNegotiation: { mode: { pin: '2026-07-28' } } },
    )
    await client.connect(new StreamableHTTPClientTransport(new URL(http.url)))
    const result = await client.callTool({ name: 'long', arguments: {} })
    expect(JSON.stringify(result.content)).toContain('8 of 8')
    expect(ran).toHaveLength(8)
    await client.close()
  })

  test('behind a balancer that distributes connections, each retry uses a new connection and so another instance', async () => {
    const ran: string[] = []
    const servers = [1, 2, 3].map(() => serverOf(ran, shedding(5)))
    const served = await Promise.all(servers.map((server) => serveHttp(server)))
    using balancer = await startTcpBalancer(served.map(({ port }) => port))
    const connection = connectHttp(`${balancer.url}/mcp`)
    expect(textOf(await createClient(connection, host).callTool('long'))).toContain('8 of 8')
    expect(ran).toHaveLength(8)
    expect(servers.map(({ load }) => [load.counters.handOffs.policy, load.counters.resumed])).toEqual([
      [2, 1],
      [2, 2],
      [1, 2],
    ])
    await connection.close()
    await Promise.all(served.map((http) => http.close()))
  })

  test('a call to a server at its hard limit is rejected with the time of the next attempt', async () => {
    let finish = () => {}
    const wait = tool('wait', {
      description: 'Waits',
      run: () =>
        new Promise<string>((resolve) => {
          finish = () => resolve('waited')
        }),
    })
    const options = sheddingSettings({ hardLimit: { running: 1 }, retryAfterMs: 2500 })
    const serverOptions = { name: 'ours', version: '1.0.0', state: stateWith(keys.first) }
    const server = createServer({ ...serverOptions, tools: [wait], shedding: options })
    await using http = await serveHttp(server)
    const answers: unknown[] = []
    const observed: typeof fetch = async (...request) => {
      const response = await fetch(...request)
      answers.push([response.status, response.headers.get('retry-after')])
      return response
    }
    const connection = connectHttp(http.url, { fetch: observed })
    const client = createClient(connection, host)
    const first = client.callTool('wait')
    first.catch(() => {})
    await expect.poll(() => server.load.running).toBe(1)
    expect((await fetch(new URL('/readyz', http.url))).status).toBe(503)
    expect((await fetch(new URL('/healthz', http.url))).status).toBe(200)
    const rejected = await client.callTool('wait', {}, { maxResendMs: 0 }).catch((error: unknown) => error)
    expect(isClientError(rejected)).toBe(true)
    const data = { reason: 'overloaded', retryAfterMs: 2500 }
    expect(rejected).toMatchObject({ code: 'rpc', rpc: { code: -32603, data } })
    expect(answers).toEqual([[503, '3']])
    finish()
    expect(textOf(await first)).toBe('waited')
    expect((await fetch(new URL('/readyz', http.url))).status).toBe(200)
    await connection.close()
  })

  test('a client retries a call that was rejected at the hard limit, and the handler runs once', async () => {
    const finishing: (() => void)[] = []
    const wait = tool('wait', {
      description: 'Waits',
      run: () => new Promise<string>((resolve) => finishing.push(() => resolve('waited'))),
    })
    const serverOptions = { name: 'ours', version: '1.0.0', state: stateWith(keys.first) }
    const shedding = sheddingSettings({ hardLimit: { running: 1 }, retryAfterMs: 50 })
    const server = createServer({ ...serverOptions, tools: [wait], shedding })
    await using http = await serveHttp(server)
    const connection = connectHttp(http.url)
    const client = createClient(connection, host)
    const first = client.callTool('wait')
    await expect.poll(() => finishing.length).toBe(1)
    const second = client.callTool('wait')
    await expect.poll(() => server.load.counters.rejected).toBeGreaterThan(0)
    finishing[0]?.()
    expect(textOf(await first)).toBe('waited')
    await expect.poll(() => finishing.length).toBe(2)
    finishing[1]?.()
    expect(textOf(await second)).toBe('waited')
    expect(finishing).toHaveLength(2)
    await connection.close()
  })
})
