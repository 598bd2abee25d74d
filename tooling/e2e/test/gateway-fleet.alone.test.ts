import { sizeOf } from '@tooling/vitest/needs'
import { type Client, createClient } from '@x/client'
import { gateway } from '@x/gateway'
import { legacy } from '@x/legacy'
import { connectAny } from '@x/legacy/client'
import { connectHttp, type HttpConnection } from '@x/transport-http/client'
import { type HttpServer, serveHttp } from '@x/transport-http/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { keys, stateWith, textOf } from './asking.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { processesOf } from './process-list.ts'
import { createFeatures } from '../src/hop/features.ts'

const subjectHeader = 'x-test-subject'
let features: ChildProgram
beforeAll(async () => {
  features = await bundleProgram(new URL('programs/features.ts', import.meta.url))
})
afterAll(() => features[Symbol.asyncDispose]())

/** Three upstreams: one of 2026-07-28 over HTTP, an older one over HTTP, and an older one over stdio. */
interface Upstreams {
  readonly modern: Restartable
  readonly olderHttp: HttpServer
}

interface Restartable {
  readonly url: string
  stop(): Promise<void>
  start(): Promise<void>
}

async function startModern(): Promise<Restartable> {
  let http = await serveHttp(createFeatures())
  const { port, url } = http
  return {
    url,
    stop: () => http.close({ graceMs: 0 }),
    async start() {
      http = await serveHttp(createFeatures(), { port })
    },
  }
}

function serveInstance({ modern, olderHttp }: Upstreams): Promise<HttpServer> {
  const server = gateway({
    name: 'company',
    version: '1.0.0',
    state: stateWith(keys.first),
    upstreams: {
      modern: { connect: () => connectAny(modern.url) },
      'old-http': { connect: () => connectAny(olderHttp.url, { revision: 'older' }) },
      'old-stdio': {
        connect: () => connectAny({ command: process.execPath, args: [features.path] }, { revision: 'older' }),
      },
    },
    extensions: [legacy()],
    log: () => {},
  })
  return serveHttp(server, { auth: (view) => ({ subject: view.header(subjectHeader) ?? 'nobody' }) })
}

interface Host extends AsyncDisposable {
  readonly client: Client
  /** The name in the host's answer to its next question. */
  name: string
}

/** Opens a host whose requests are distributed in turn among the instances, as behind a load balancer. */
function openHost(subject: string, instances: readonly HttpServer[]): Host {
  let turn = 0
  const rotate: typeof fetch = (input, init) => {
    turn += 1
    const url = new URL(String(input))
    url.port = String(instances[turn % instances.length]?.port)
    return fetch(url, init)
  }
  const connection: HttpConnection = connectHttp(instances[0]?.url ?? '', {
    headers: { [subjectHeader]: subject },
    fetch: rotate as never,
  })
  const host: Host = {
    name: '',
    client: createClient(connection, {
      name: 'host',
      version: '1.0.0',
      elicit: () => ({ action: 'accept', content: { name: host.name } }),
    }),
    [Symbol.asyncDispose]: () => connection.close(),
  }
  return host
}

interface Outcome {
  readonly upstream: string
  readonly sent: string
  readonly text?: string
  readonly error?: Error
}

async function ask(host: Host, upstream: string, name: string): Promise<Outcome> {
  host.name = name
  try {
    return { upstream, sent: name, text: textOf(await host.client.callTool(`${upstream}__ask`)) }
  } catch (error) {
    return { upstream, sent: name, error: error as Error }
  }
}

const callCount = sizeOf({ change: 200, night: 2000 })

const upstreamOrder = [
  'modern',
  'old-http',
  'modern',
  'modern',
  'old-http',
  'modern',
  'old-stdio',
  'modern',
  'old-http',
  'modern',
]

test('calls with questions of eight users at three instances: an upstream that fails affects only its own calls, and no user receives data of another [GWY-001 GWY-006 GWY-007 GWY-008]', async () => {
  const upstreams: Upstreams = { modern: await startModern(), olderHttp: await serveHttp(createFeatures()) }
  const instances = await Promise.all([1, 2, 3].map(() => serveInstance(upstreams)))
  const subjects = ['ada', 'grace', 'edsger', 'barbara', 'tony', 'donald', 'leslie', 'radia']
  const hosts = subjects.map((subject) => openHost(subject, instances))
  const outcomes: Outcome[] = []
  const work = async (host: Host, index: number): Promise<void> => {
    for (let call = 0; outcomes.length < callCount; call += 1) {
      const upstream = upstreamOrder[(call + index) % upstreamOrder.length] ?? 'modern'
      outcomes.push(await ask(host, upstream, `${subjects[index]}-${call}`))
    }
  }
  const running = Promise.all(hosts.map(work))
  const until = (count: number): Promise<void> =>
    expect.poll(() => outcomes.length, { interval: 5 }).toBeGreaterThanOrEqual(count)

  await until(callCount / 5)
  await upstreams.modern.stop()
  await until((2 * callCount) / 5)
  await upstreams.modern.start()
  await until((3 * callCount) / 5)
  for (const id of await processesOf(features.path)) process.kill(id, 'SIGKILL')
  await running

  const failed = outcomes.filter(({ error }) => error !== undefined)
  // While an upstream stops, it still returns its own error until its connections are closed.
  for (const { upstream, error } of failed)
    expect(error?.message).toMatch(
      new RegExp(`Upstream "${upstream}" (gave no answer|is unreachable)|The server is stopping`),
    )
  expect(new Set(failed.map(({ upstream }) => upstream))).not.toContain('old-http')
  expect(failed.some(({ upstream }) => upstream === 'modern')).toBe(true)
  const answered = outcomes.filter(({ text }) => text !== undefined)
  expect(answered.map(({ text }) => text)).toEqual(answered.map(({ sent }) => sent))
  expect(new Set(answered.map(({ upstream }) => upstream)).size).toBe(3)
  // The stopped upstream serves again after its restart.
  const [host] = hosts
  await expect.poll(() => host && ask(host, 'modern', 'again'), { interval: 500 }).toMatchObject({ text: 'again' })

  for (const each of hosts) await each[Symbol.asyncDispose]()
  await Promise.all(instances.map((http) => http.close({ graceMs: 0 })))
  await upstreams.olderHttp.close({ graceMs: 0 })
  await upstreams.modern.stop()
  await expect.poll(() => processesOf(features.path)).toEqual([])
})
