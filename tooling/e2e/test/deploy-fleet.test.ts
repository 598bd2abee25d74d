import { once } from 'node:events'
import { describeNeeding } from '@tooling/vitest/needs'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { createClient } from '@x/client'
import { tasksClient } from '@x/tasks/client'
import { connectHttp } from '@x/transport-http/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys, textOf } from './asking.ts'
import { bundleExample, type BundledExample } from './bundle-example.ts'
import { expectStop, prepareFleet, startServer, stopServer } from './deployed-fleet.ts'
import { callAsOlderHost } from './older-client.ts'
import { folderHaproxy, startProxy } from './proxies.ts'

let bundle: BundledExample
let database: RealPostgres
beforeAll(async () => {
  bundle = await bundleExample('server.mjs')
  database = await startPostgres()
})
afterAll(async () => {
  await database?.close()
  await bundle?.[Symbol.asyncDispose]()
})

describe('the environment of an instance', () => {
  const start = async (environment: NodeJS.ProcessEnv) => {
    const child = startServer(bundle.path, environment)
    let printed = ''
    child.stderr?.setEncoding('utf8').on('data', (text: string) => (printed += text))
    const [code] = await once(child, 'close')
    return { code, printed }
  }

  test('is rejected with all problems at once, and the error contains no secret [OPS-014]', async () => {
    const { code, printed } = await start({
      PORT: '70000',
      HOST: '0.0.0.0',
      STATE_KEYS: 'topsecret',
      DATABASE_URL: 'mysql://root:topsecret@db',
    })
    expect(code).toBe(1)
    for (const problem of [
      'PORT cannot be used',
      'STATE_KEYS cannot be used',
      'DATABASE_URL cannot be used: it should begin with postgres://',
      'ALLOWED_HOSTS is not set',
    ])
      expect(printed).toContain(problem)
    expect(printed).not.toContain('topsecret')
    expect(printed).not.toContain('    at ')
  })

  test('requires keys, in a variable or in a file', async () => {
    expect((await start({})).printed).toContain('STATE_KEYS or STATE_KEYS_FILE must be set, and not both')
    expect((await start({ STATE_KEYS_FILE: `${bundle.folder}/none` })).printed).toContain(
      'STATE_KEYS_FILE cannot be used',
    )
    expect((await start({ HOST: '0.0.0.0', STATE_KEYS: keys.first })).printed).toContain('ALLOWED_HOSTS is not set')
  })
})

/** Calls a server until the load is over, and adds the text of every result to `results`. */
async function callRepeatedly(url: string, load: { isOver: boolean; readonly results: string[] }): Promise<void> {
  await using connection = connectHttp(url)
  const info = { name: 'host', version: '1.0.0' }
  const elicit = () => ({ action: 'accept', content: { name: 'Ada' } }) as const
  const client = createClient(connection, { ...info, elicit })
  const followingClient = createClient(connection, { ...info, extensions: [tasksClient()] })
  const repeat = (count: number, call: () => ReturnType<typeof client.callTool>): Promise<void>[] =>
    Array.from({ length: count }, async () => {
      while (!load.isOver) load.results.push(textOf(await call()))
    })
  await Promise.all([
    ...repeat(8, () => client.callTool('greet')),
    ...repeat(6, () => client.callTool('report', { pages: 30 })),
    ...repeat(4, () => followingClient.callTool('report', { pages: 20 })),
  ])
}

function defineRestarts(haproxy: string): void {
  test('serve older hosts whose answers reach either instance, and are restarted in turn under load without losing a call or a task [OPS-013]', async () => {
    const { startInstance: start, ports } = await prepareFleet(bundle, database.url)
    let [one, two] = await Promise.all([start(0), start(1)])
    await using balancer = await startProxy(haproxy, folderHaproxy, { ports })
    const older = (await Promise.all([1, 2, 3, 4].map(() => callAsOlderHost(balancer.url, 10)))).flat()
    expect(older).toEqual(Array.from({ length: 40 }, () => expect.stringContaining('Hello, Ada!')))

    const load = { isOver: false, results: [] as string[] }
    const calls = callRepeatedly(balancer.url, load)
    const waitForResults = async (): Promise<void> => {
      const before = load.results.length
      await expect.poll(() => load.results.length).toBeGreaterThan(before + 30)
    }
    expect(await stopServer(one)).toEqual([0, null])
    one = await start(0)
    await waitForResults()
    expect(await stopServer(two)).toEqual([0, null])
    two = await start(1)
    await waitForResults()
    load.isOver = true
    await calls
    const texts = ['20 pages', '30 pages', 'Hello, Ada!']
    const counts = texts.map((text) => `${load.results.filter((result) => result === text).length} "${text}"`)
    process.stdout.write(`${counts.join(', ')}\n`)
    expect([...new Set(load.results)].toSorted()).toEqual(texts)
    await expectStop([one, two])
  })
}

describeNeeding('haproxy', 'two instances behind the HAProxy of the folder', defineRestarts)
