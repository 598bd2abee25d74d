import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { type RealPostgres, startPostgres } from '@tooling/real-servers/postgres'
import { createClient } from '@x/client'
import { taskCalls } from '@x/tasks/client'
import { connectHttp } from '@x/transport-http/client'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { keys, textOf } from './asking.ts'
import { bundleExample, type BundledExample } from './bundle-example.ts'
import { folderBalancer, startServer } from './deployed-fleet.ts'
import { freePort, startProxy } from './proxies.ts'

let bundle: BundledExample
let database: RealPostgres
beforeAll(async () => {
  bundle = await bundleExample('server.mjs')
  database = await startPostgres()
}, 60_000)
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

  test('is rejected with all its problems at once, and without a secret', async () => {
    const { code, printed } = await start({
      PORT: '70000',
      HOST: '0.0.0.0',
      STATE_KEYS: 'topsecret',
      TASKS_DATABASE: 'mysql://root:topsecret@db',
    })
    expect(code).toBe(1)
    expect(printed).toContain('PORT cannot be used')
    expect(printed).toContain('TASKS_DATABASE cannot be used: it should begin with postgres:// or redis://')
    expect(printed).not.toContain('topsecret')
    expect(printed).not.toContain('    at ')
  })

  test('needs keys, in a variable or in a file', async () => {
    expect((await start({})).printed).toContain('STATE_KEYS or STATE_KEYS_FILE has to be set, and not both')
    expect((await start({ STATE_KEYS_FILE: `${bundle.folder}/none` })).printed).toContain(
      'STATE_KEYS_FILE cannot be used',
    )
    expect((await start({ HOST: '0.0.0.0', STATE_KEYS: keys.first })).printed).toContain('ALLOWED_HOSTS is not set')
  })
})

test('two instances behind the balancer are restarted in turn under load, and no call and no task is lost', async () => {
  const keysFile = `${bundle.folder}/state.keys`
  await writeFile(keysFile, `${keys.first}\n`)
  const ports = [await freePort(), await freePort()]
  const start = async (place: number): Promise<ChildProcess> => {
    const child = startServer(bundle.path, {
      PORT: String(ports[place]),
      ALLOWED_HOSTS: '127.0.0.1,localhost',
      STATE_KEYS_FILE: keysFile,
      TASKS_DATABASE: database.url,
      CLIENT_ADDRESS_HEADER: 'x-forwarded-for',
    })
    child.stderr?.pipe(process.stderr)
    if (child.stdout !== null) await once(child.stdout, 'data')
    return child
  }
  const instances = [await start(0), await start(1)]
  await using balancer = await startProxy('haproxy', folderBalancer, { ports })
  await using connection = connectHttp(balancer.url)
  const client = createClient(connection, {
    name: 'host',
    version: '1.0.0',
    elicit: () => ({ action: 'accept', content: { name: 'Ada' } }),
  })
  const followingClient = createClient(connection, { name: 'host', version: '1.0.0', extensions: [taskCalls()] })

  let isOver = false
  const results: string[] = []
  const repeat = async (call: () => Promise<string>): Promise<void> => {
    while (!isOver) results.push(await call())
  }
  const load = Promise.all([
    ...Array.from({ length: 8 }, () => repeat(async () => textOf(await client.callTool('greet')))),
    ...Array.from({ length: 6 }, () => repeat(async () => textOf(await client.callTool('report', { pages: 30 })))),
    ...Array.from({ length: 4 }, () =>
      repeat(async () => textOf(await followingClient.callTool('report', { pages: 20 }))),
    ),
  ])
  for (const place of [0, 1]) {
    const old = instances[place]
    const exited = old && once(old, 'exit')
    old?.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
    instances[place] = await start(place)
    const before = results.length
    await expect.poll(() => results.length, { timeout: 30_000 }).toBeGreaterThan(before + 30)
  }
  isOver = true
  await load
  const texts = ['20 pages', '30 pages', 'Hello, Ada!']
  const counts = texts.map((text) => `${results.filter((result) => result === text).length} "${text}"`)
  process.stdout.write(`${counts.join(', ')}\n`)
  expect([...new Set(results)].toSorted()).toEqual(texts)
  for (const instance of instances) {
    const exited = once(instance, 'exit')
    instance.kill('SIGTERM')
    expect(await exited).toEqual([0, null])
  }
}, 120_000)
