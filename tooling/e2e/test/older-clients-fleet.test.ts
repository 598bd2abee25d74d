import { describeNeeding } from '@tooling/vitest/needs'
import { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js'
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js'
import { legacy } from '@x/legacy'
import { createServer, tool } from '@x/server'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { keys, resolveTool, stateWith } from './asking.ts'
import { haproxy, nginx, type ProxyKind, startProxy } from './proxies.ts'

const allowedHosts = ['mcp', '127.0.0.1']

interface Setup {
  readonly hashHeader?: string
  readonly answerTimeoutMs?: number
}

/** Starts three instances behind a proxy. They share only their keys. */
async function openFleet(program: string, kind: ProxyKind, { hashHeader, answerTimeoutMs }: Setup = {}) {
  const served: HttpServer[] = []
  const servedBy: string[] = []
  const warnings: string[] = []
  for (const name of ['a', 'b', 'c']) {
    const where = tool('where', {
      description: 'Returns the name of its instance',
      run: (_, ctx) => {
        ctx.progress(1)
        servedBy.push(name)
        return name
      },
    })
    const server = createServer({
      name: 'fleet',
      version: '1.0.0',
      tools: [resolveTool({ saved: [], runs: [] }), where],
      state: stateWith(keys.first),
      strictReplay: false,
      log: ({ method, code }) => {
        if (method === 'legacy' && code !== undefined) warnings.push(code)
      },
      extensions: [legacy({ answerTimeoutMs })],
    })
    served.push(await serveHttp(server, { allowedHosts }))
  }
  const proxy = await startProxy(program, kind, { ports: served.map(({ port }) => port), hashHeader })
  const clients: Client[] = []
  return {
    servedBy,
    warnings,
    async connect(): Promise<Client> {
      const client = new Client({ name: 'v1', version: '1.0.0' }, { capabilities: { elicitation: { form: {} } } })
      client.setRequestHandler(ElicitRequestSchema, ({ params }) => {
        const isFirst = params.message.startsWith('How')
        return { action: 'accept', content: isFirst ? { resolution: 'Duplicate' } : { original: 17 } }
      })
      const transport = new StreamableHTTPClientTransport(new URL(proxy.url))
      await client.connect(transport as Parameters<Client['connect']>[0])
      clients.push(client)
      return client
    },
    [Symbol.asyncDispose]: async () => {
      for (const client of clients) await client.close()
      await proxy[Symbol.asyncDispose]()
      for (const http of served) await http.close({ graceMs: 0 })
    },
  }
}

for (const kind of [nginx, haproxy]) {
  describeNeeding(kind.name, `older clients of three instances behind ${kind.name}`, (program) => {
    test('all instances serve one session in turn, with its progress [LEG-087]', async () => {
      await using fleet = await openFleet(program, kind)
      const client = await fleet.connect()
      let progress = 0
      for (let call = 0; call < 9; call += 1) {
        const options = { onprogress: () => (progress += 1) }
        await client.callTool({ name: 'where', arguments: {} }, undefined, options)
      }
      expect(new Set(fleet.servedBy)).toEqual(new Set(['a', 'b', 'c']))
      expect(progress).toBe(9)
    })

    test('with round robin, an answer reaches another instance than the one that asked: a warning is logged, and the call ends [LEG-023]', async () => {
      await using fleet = await openFleet(program, kind, { answerTimeoutMs: 1000 })
      const client = await fleet.connect()
      // After the time limit for the answer, the question counts as cancelled.
      const result = await client.callTool({ name: 'resolve', arguments: { id: 1 } })
      expect(result).toMatchObject({ isError: true })
      expect(fleet.warnings).toContain('unknown_answer')
    })

    test('with the session header hashed, each session uses one instance and can answer questions', async () => {
      await using fleet = await openFleet(program, kind, { hashHeader: 'Mcp-Session-Id' })
      const clients = await Promise.all(Array.from({ length: 6 }, () => fleet.connect()))
      const results = await Promise.all(
        clients.map((client, id) => client.callTool({ name: 'resolve', arguments: { id } })),
      )
      expect(results.map(({ content }) => content)).toEqual(
        clients.map((_, id) => [{ type: 'text', text: expect.stringContaining(`#${id} duplicates #17`) }]),
      )
      expect(fleet.warnings).toEqual([])
    })
  })
}
