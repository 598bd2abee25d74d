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
import { haproxy, nginx, type ProxyKind, startProxy } from './proxies.ts'
import { waitingTool } from './waiting-tool.ts'

const host = { name: 'e2e-client', version: '1.0.0' }
// Nginx calls an upstream by the name that its configuration gives it.
const allowedHosts = ['mcp', '127.0.0.1']

const echo = tool('echo', {
  description: 'Gives back what it is given',
  input: z.object({ text: z.string(), place: z.string().optional().meta({ 'x-mcp-header': 'Place' }) }),
  run: ({ text, place = '' }) => `${place}${text}`,
})
const whoami = tool('whoami', { description: 'Says who calls', run: (_, { principal }) => `${principal?.subject}` })

interface Setup extends ServeHttpOptions {
  readonly instances?: readonly Omit<ServerDefinition, 'name' | 'version'>[]
  readonly idleMs?: number
}

/** Instances behind a proxy, and clients that know nothing but its address. */
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
    test('calls, lists and reads go there and back', async () => {
      const page = resource('test://größe', { name: 'page', read: () => Uint8Array.of(0, 255, 10) })
      await using behind = await openBehind(program, kind, { instances: [{ tools: [echo], resources: [page] }] })
      const client = createClient(behind.connect(), host)
      expect((await client.listTools()).map(({ name }) => name)).toEqual(['echo'])
      const text = 'Ζωή 🎈 '.repeat(50_000)
      expect(textOf(await client.callTool('echo', { text, place: 'Zürich: ' }))).toBe(`Zürich: ${text}`)
      expect((await client.readResource('test://größe')).contents).toMatchObject([{ blob: 'AP8K' }])
    })

    test('progress comes event by event, as it is reported', async () => {
      let heard = createGate()
      const steps = tool('steps', {
        description: 'Reports a step when the one before was heard',
        run: async (_, ctx) => {
          for (let step = 1; step <= 5; step += 1) {
            heard = createGate()
            ctx.progress(step)
            await heard.opened
          }
          return 'arrived'
        },
      })
      await using behind = await openBehind(program, kind, { instances: [{ tools: [steps] }] })
      const seen: number[] = []
      const onProgress = ({ progress }: { progress: number }): void => {
        seen.push(progress)
        heard.open()
      }
      const result = await createClient(behind.connect(), host).callTool('steps', {}, { onProgress })
      expect([textOf(result), seen]).toEqual(['arrived', [1, 2, 3, 4, 5]])
    })

    test('a call that asks goes from instance to instance, and does its work once', async () => {
      const works = [1, 2].map(() => ({ saved: [] as string[], runs: [] as string[] }))
      const state = stateWith(keys.first)
      const instances = works.map((work) => ({ tools: [resolveTool(work)], state, strictReplay: false }))
      await using behind = await openBehind(program, kind, { instances })
      const client = createClient(behind.connect(), { ...host, ...duplicateOf17 })
      for (const id of [1, 2, 3, 4]) {
        expect(textOf(await client.callTool('resolve', { id }))).toMatch(`#${id} duplicates #17`)
      }
      expect(works.flatMap(({ saved }) => saved).toSorted()).toEqual([1, 2, 3, 4].map((id) => `#${id} duplicates #17`))
      // Three rounds a call are twelve requests, of which each instance gets every second one.
      expect(works.map(({ runs }) => runs.filter((run) => run === 'began').length)).toEqual([6, 6])
    })

    test('a client that leaves stops its handler', async () => {
      const { waits, started, stopped } = waitingTool()
      // HAProxy notices that a client has gone when it has something for them; a comment is enough.
      await using behind = await openBehind(program, kind, { instances: [{ tools: [waits, echo] }], keepAliveMs: 100 })
      const client = createClient(behind.connect(), host)
      const controller = new AbortController()
      const call = client.callTool('waits', {}, { signal: controller.signal })
      await started.opened
      const reason = new Error('the user pressed stop')
      controller.abort(reason)
      await expect(call).rejects.toBe(reason)
      await stopped.opened
      expect(textOf(await client.callTool('echo', { text: 'still here' }))).toBe('still here')
    })

    test('changes come event by event, and a reader that leaves frees its place', async () => {
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
      // A place that is taken still is an error that a client waits out.
      const again = client.listen({ toolsListChanged: true }, { reopen: { pauseMs: 20, maxPauseMs: 100 } })
      for await (const { type } of again) if (type === 'opened') break
    })

    test('clients whose requests share connections get their own answers', async () => {
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

    /** A tool that is silent until the gate opens. */
    function createQuietSetup(keepAliveMs: number) {
      const over = createGate()
      const quiet = tool('quiet', { description: 'Is silent for long', run: () => over.opened.then(() => 'at last') })
      return { over, setup: { instances: [{ tools: [quiet] }], idleMs, keepAliveMs } }
    }

    test('comments keep a silent call open for twice as long', async () => {
      const { over, setup } = createQuietSetup(200)
      await using behind = await openBehind(program, kind, setup)
      const calling = createClient(behind.connect(), host).callTool('quiet')
      await sleep(2 * idleMs)
      over.open()
      expect(textOf(await calling)).toBe('at last')
    })

    test('comments keep a silent stream of changes open for twice as long', async () => {
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

    test('a silent call without comments is cut off by the proxy, and fails with its status', async () => {
      const { over, setup } = createQuietSetup(0)
      await using behind = await openBehind(program, kind, setup)
      const failure = createClient(behind.connect(), host).callTool('quiet')
      await expect(failure).rejects.toMatchObject({ code: 'transport', cause: { code: 'status', status: 504 } })
      over.open()
    })
  })
}

describeNeeding('nginx', 'behind nginx, whose bodies may have a megabyte', (program) => {
  test('a longer one fails with the status of the proxy, which answers in no JSON', async () => {
    await using behind = await openBehind(program, nginx)
    const failure = createClient(behind.connect(), host).callTool('echo', { text: 'x'.repeat(1_100_000) })
    await expect(failure).rejects.toMatchObject({ code: 'transport', cause: { code: 'status', status: 413 } })
  })
})
