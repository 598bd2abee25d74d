import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { createClient } from '@x/client'
import { createServer, type McpServer, type SheddingOptions, tool } from '@x/server'
import { sheddingSettings } from '@x/server/internals'
import { connectHttp } from '@x/transport-http/client'
import { serveHttp } from '@x/transport-http/node'
import { describe, expect, test } from 'vitest'
import { keys, stateWith, textOf } from './asking.ts'
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

describe('a call that is shed over HTTP', () => {
  function serverOf(ran: string[], options: SheddingOptions): McpServer {
    const parts = { tools: [longTool(ran)], state: stateWith(keys.first), shedding: options }
    return createServer({ name: 'ours', version: '1.0.0', ...parts, strictReplay: false })
  }

  test('is completed by the official client, after five times', async () => {
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
})
