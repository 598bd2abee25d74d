import { describeNeeding } from '@tooling/vitest/needs'
import { createClient } from '@x/client'
import { setTimeout as sleep } from 'node:timers/promises'
import { createServer, resource, type ServerDefinition, tool } from '@x/server'
import { connectHttp, type HttpConnection } from '@x/transport-http/client'
import { type HttpServer, serveHttp, type ServeHttpOptions } from '@x/transport-http/node'
import { expect, test } from 'vitest'
import { z } from 'zod'
import { duplicateOf17, keys, resolveTool, stateWith, textOf } from './asking.ts'
import { createGate } from '@tooling/vitest/gate'
import { folderCaddy, folderHaproxy, folderNginx, haproxy, nginx, type ProxyKind, startProxy } from './proxies.ts'
import { waitingTool } from './waiting-tool.ts'

const host = { name: 'e2e-client', version: '1.0.0' }
// nginx sends the upstream name of its configuration as Host.
const allowedHosts = ['mcp', '127.0.0.1']

const echo = tool('echo', {
  description: 'Returns its input',
  input: z.object({ text: z.string(), place: z.string().optional().meta({ 'x-mcp-header': 'Place' }) }),
  run: ({ text, place = '' }) => `${place}${text}`,
})
const whoami = tool('whoami', {
  description: 'Returns the subject of the caller',
  run: (_, { principal }) => `${principal?.subject}`,
})

interface Setup extends ServeHttpOptions {
  readonly instances?: readonly Omit<ServerDefinition, 'name' | 'version'>[]
  readonly idleMs?: number
}

/** Starts instances behind a proxy. Clients know only the proxy's address. */
async function openBehind(program: string, kind: ProxyKind, setup: Setup = {}) {
  const { instances = [{ tools: [echo] }], idleMs, ...options } = setup
  const served: HttpServer[] = []
  for (const definition of instances) {
    const server = createServer({ name: 'behind', version: '1.0.0', state: false, ...definition })
    const auth: ServeHttpOptions['auth'] = (view) => ({ subject: view.header('x-subject') ?? 'nobody' })
    served.push(await serveHttp(server, { allowedHosts, auth, ...options }))
  }
  const proxy = await startProxy(program, kind, { ports: served.map(({ port }) => port), idleMs })
  const connections: HttpConnection[] = []
  return {
    url: proxy.url,
    connect: (headers: Readonly<Record<string, string>> = {}) => {
      const connection = connectHttp(proxy.url, { headers, retry: false })
      connections.push(connection)
      return connection
    },
    [Symbol.asyncDispose]: async () => {
      for (const connection of connections) await connection.close()
      await proxy[Symbol.asyncDispose]()
      for (const http of served) await http.close({ graceMs: 0 })
    },
  }
}

for (const kind of [nginx, haproxy]) {
  describeNeeding(kind.name, `behind ${kind.name} with its default settings`, (program) => {
    test('calls, lists and reads pass through in both directions', async () => {
      const page = resource('test://größe', { name: 'page', read: () => Uint8Array.of(0, 255, 10) })
      await using behind = await openBehind(program, kind, { instances: [{ tools: [echo], resources: [page] }] })
      const client = createClient(behind.connect(), host)
      expect((await client.listTools()).map(({ name }) => name)).toEqual(['echo'])
      const text = 'Ζωή 🎈 '.repeat(50_000)
      expect(textOf(await client.callTool('echo', { text, place: 'Zürich: ' }))).toBe(`Zürich: ${text}`)
      expect((await client.readResource('test://größe')).contents).toMatchObject([{ blob: 'AP8K' }])
    })

    test('progress arrives one event at a time, as it is reported', async () => {
      let received = createGate()
      const steps = tool('steps', {
        description: 'Reports a step when the last one has arrived',
        run: async (_, ctx) => {
          for (let step = 1; step <= 5; step += 1) {
            received = createGate()
            ctx.progress(step)
            await received.opened
          }
          return 'arrived'
        },
      })
      await using behind = await openBehind(program, kind, { instances: [{ tools: [steps] }] })
      const seen: number[] = []
      const onProgress = ({ progress }: { progress: number }): void => {
        seen.push(progress)
        received.open()
      }
      const result = await createClient(behind.connect(), host).callTool('steps', {}, { onProgress })
      expect([textOf(result), seen]).toEqual(['arrived', [1, 2, 3, 4, 5]])
    })

    test('the rounds of a call alternate between instances, and its work is done once [BAS-031]', async () => {
      const works = [1, 2].map(() => ({ saved: [] as string[], runs: [] as string[] }))
      const state = stateWith(keys.first)
      const instances = works.map((work) => ({ tools: [resolveTool(work)], state, strictReplay: false }))
      await using behind = await openBehind(program, kind, { instances })
      const client = createClient(behind.connect(), { ...host, ...duplicateOf17 })
      for (const id of [1, 2, 3, 4]) {
        expect(textOf(await client.callTool('resolve', { id }))).toMatch(`#${id} duplicates #17`)
      }
      expect(works.flatMap(({ saved }) => saved).toSorted()).toEqual([1, 2, 3, 4].map((id) => `#${id} duplicates #17`))
      // Four calls of three rounds are twelve requests. Each instance receives every second one.
      expect(works.map(({ runs }) => runs.filter((run) => run === 'began').length)).toEqual([6, 6])
    })

    test('a client that disconnects stops its handler', async () => {
      const { waits, started, stopped } = waitingTool()
      // HAProxy notices a disconnected client only when it sends data. A keep-alive comment is enough.
      await using behind = await openBehind(program, kind, { instances: [{ tools: [waits, echo] }], keepAliveMs: 100 })
      const client = createClient(behind.connect(), host)
      const controller = new AbortController()
      const call = client.callTool('waits', {}, { signal: controller.signal })
      await started.opened
      const reason = new Error('the user pressed stop')
      controller.abort(reason)
      await expect(call).rejects.toBe(reason)
      await stopped.opened
      expect(textOf(await client.callTool('echo', { text: 'after' }))).toBe('after')
    })

    test('changes arrive one event at a time, and a client that disconnects frees its stream', async () => {
      const changing = createServer({ ...host, state: false, tools: [echo], limits: { streams: 1 } })
      await using http = await serveHttp(changing, { allowedHosts, keepAliveMs: 100 })
      await using proxy = await startProxy(program, kind, { ports: [http.port] })
      await using connection = connectHttp(proxy.url)
      const client = createClient(connection, host)
      let changes = 0
      for await (const { type } of client.listen({ toolsListChanged: true })) {
        expect(type).toBe(changes === 0 ? 'opened' : 'toolsListChanged')
        changes += 1
        if (changes === 5) break
        await changing.notifyListChanged('tools')
      }
      // While the first stream is still counted, the server returns an error. The client retries.
      const again = client.listen({ toolsListChanged: true }, { reopen: { pauseMs: 20, maxPauseMs: 100 } })
      for await (const { type } of again) if (type === 'opened') break
    })

    test('clients whose requests share connections receive their own answers', async () => {
      await using behind = await openBehind(program, kind, { instances: [{ tools: [whoami] }, { tools: [whoami] }] })
      const subjects = ['ada', 'grace', 'edsger', 'barbara']
      const clients = subjects.map((subject) => createClient(behind.connect({ 'x-subject': subject }), host))
      for (let round = 0; round < 50; round += 1) {
        const results = await Promise.all(clients.map((client) => client.callTool('whoami')))
        expect(results.map(textOf)).toEqual(subjects)
      }
    })
  })

  describeNeeding(kind.name, `behind ${kind.name} with an idle time of one second`, (program) => {
    const idleMs = 1000

    /** Creates a tool that is silent until the gate opens. */
    function createQuietSetup(keepAliveMs: number) {
      const over = createGate()
      const quiet = tool('quiet', {
        description: 'Sends nothing until the gate opens',
        run: () => over.opened.then(() => 'at last'),
      })
      return { over, setup: { instances: [{ tools: [quiet] }], idleMs, keepAliveMs } }
    }

    // They wait, each for a proxy of its own.
    test.concurrent('keep-alive comments keep a silent call open for twice the idle time', async () => {
      const { over, setup } = createQuietSetup(200)
      await using behind = await openBehind(program, kind, setup)
      const calling = createClient(behind.connect(), host).callTool('quiet')
      await sleep(2 * idleMs)
      over.open()
      expect(textOf(await calling)).toBe('at last')
    })

    test.concurrent('keep-alive comments keep a silent stream of changes open for twice the idle time', async () => {
      const { keepAliveMs } = createQuietSetup(200).setup
      const changing = createServer({ ...host, state: false, tools: [echo] })
      await using http = await serveHttp(changing, { allowedHosts, keepAliveMs })
      await using proxy = await startProxy(program, kind, { ports: [http.port], idleMs })
      await using connection = connectHttp(proxy.url)
      const seen: string[] = []
      const subscription = createClient(connection, host).listen({ toolsListChanged: true }, { reopen: false })
      for await (const { type } of subscription) {
        seen.push(type)
        if (seen.length === 2) break
        await sleep(2 * idleMs)
        await changing.notifyListChanged('tools')
      }
      expect(seen).toEqual(['opened', 'toolsListChanged'])
    })

    test.concurrent('the proxy ends a silent call without comments, and the client reports the status', async () => {
      const { over, setup } = createQuietSetup(0)
      await using behind = await openBehind(program, kind, setup)
      const failure = createClient(behind.connect(), host).callTool('quiet')
      await expect(failure).rejects.toMatchObject({ code: 'transport', cause: { code: 'status', status: 504 } })
      over.open()
    })
  })
}

describeNeeding('nginx', 'behind nginx with its limit of one megabyte for bodies', (program) => {
  test('a larger request fails with the status of the proxy, whose response is not JSON', async () => {
    await using behind = await openBehind(program, nginx)
    const failure = createClient(behind.connect(), host).callTool('echo', { text: 'x'.repeat(1_100_000) })
    await expect(failure).rejects.toMatchObject({ code: 'transport', cause: { code: 'status', status: 413 } })
  })
})

for (const kind of [folderNginx, folderHaproxy, folderCaddy]) {
  describeNeeding(kind.name, `behind ${kind.name} as in examples/deploy`, (program) => {
    test('an event arrives before the answer to a later call', async () => {
      const [reported, over] = [createGate(), createGate()]
      const reports = tool('reports', {
        description: 'Reports progress, and waits',
        run: (_, ctx) => {
          ctx.progress(1)
          reported.open()
          return over.opened.then(() => 'done')
        },
      })
      const instance = { tools: [reports, echo] }
      await using behind = await openBehind(program, kind, { instances: [instance, instance] })
      const client = createClient(behind.connect(), host)
      const seen: string[] = []
      const reporting = client.callTool('reports', {}, { onProgress: () => seen.push('progress') })
      await reported.opened
      for (const text of ['first', 'second', 'last']) seen.push(textOf(await client.callTool('echo', { text })))
      over.open()
      await reporting
      expect(seen.indexOf('progress')).toBeLessThan(seen.indexOf('last'))
    })

    test('a request of nearly four megabytes arrives', async () => {
      await using behind = await openBehind(program, kind, { instances: [{ tools: [echo] }, { tools: [echo] }] })
      const text = 'x'.repeat(4_000_000)
      expect(textOf(await createClient(behind.connect(), host).callTool('echo', { text }))).toHaveLength(text.length)
    })

    test('a client that gives up stops a handler that sends nothing', async () => {
      const { waits, started, stopped } = waitingTool()
      const instance = { tools: [waits] }
      await using behind = await openBehind(program, kind, { instances: [instance, instance], keepAliveMs: 0 })
      const controller = new AbortController()
      const call = createClient(behind.connect(), host).callTool('waits', {}, { signal: controller.signal })
      await started.opened
      controller.abort(new Error('the user pressed stop'))
      await expect(call).rejects.toThrow('the user pressed stop')
      await stopped.opened
    })
  })
}
