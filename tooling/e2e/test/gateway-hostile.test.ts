import { sizeOf } from '@tooling/vitest/needs'
import { isClientError } from '@x/client'
import { serveHttp } from '@x/transport-http/node'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createFeatures } from '../src/hop/features.ts'
import { textOf } from './asking.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { openUser, type User } from './gateway-user.ts'
import { hostileProgram, serveHostileGateway } from './hostile-gateway.ts'
import { startHostileUpstreams } from './hostile-upstream.ts'
import { processesOf } from './process-list.ts'
import { send } from './raw-request.ts'

/** Two instances serve each call once in two rounds. */
const rounds = sizeOf({ change: 2, night: 20 })
let features: ChildProgram
beforeAll(async () => {
  features = await bundleProgram(new URL('programs/features.ts', import.meta.url))
})
afterAll(() => features[Symbol.asyncDispose]())

/** The connection ends, or the answer is none of the protocol: which of both comes first is up to the transport. */
const unusable = /gave no answer|gave an answer that cannot be read|answered with HTTP 3/

/** The hostile upstreams whose calls fail, with the expected outcome. */
const hostileCalls: readonly (readonly [upstream: string, outcome: RegExp])[] = [
  ['hang', /gave no answer within 1000 ms/],
  ['stream', /gave no answer within 1000 ms/],
  ['shape', /gave an invalid result/],
  ['question', /gave an invalid result/],
  ['no-json', unusable],
  ['redirect', unusable],
  ['ids', unusable],
  ['flood', unusable],
  ['old-ids', unusable],
  ['old-shape', /gave an invalid result/],
  ['old-flood', unusable],
  ['old-die', /gave no answer/],
]

/** The hostile upstreams whose calls succeed. */
const noisy = ['noise', 'changes', 'old-noise']
const honestTools = ['honest__sum', 'old-honest__sum']

interface Outcome {
  readonly upstream: string
  readonly message: string
  readonly named: unknown
  /** The canary of the calling user. */
  readonly canary: string
}

/** Calls the tool of a hostile upstream. */
async function callHostile({ client, canary }: User, upstream: string): Promise<Outcome> {
  try {
    const result = await client.callTool(`${upstream}__go`, { canary }, { onProgress: () => {} })
    return { upstream, message: textOf(result), named: undefined, canary }
  } catch (error) {
    if (!isClientError(error) || error.rpc === undefined) throw error
    return { upstream, message: error.rpc.message, named: Object(error.rpc.data)['upstream'], canary }
  }
}

/** Calls all upstreams concurrently and lists the tools at the same time. */
async function runRound(user: User): Promise<Outcome[]> {
  const { client, canary } = user
  const hostile = Promise.all([...hostileCalls.map(([name]) => name), ...noisy].map((name) => callHostile(user, name)))
  const lists = client.listTools()
  const [asked, olderAsked, sum, shadow] = await Promise.all([
    client.callTool('honest__ask'),
    client.callTool('old-honest__ask'),
    client.callTool('honest__sum', { a: 1, b: 2 }),
    client.callTool('names__honest__sum', { a: 1, b: 2 }),
  ])
  expect([textOf(asked), textOf(olderAsked), textOf(shadow)]).toEqual([canary, canary, 'names'])
  expect(sum.structuredContent).toEqual({ total: 3 })
  const names = (await lists).map(({ name }) => name)
  expect(names).toEqual(expect.arrayContaining(honestTools))
  expect(new Set(names).size).toBe(names.length)
  expect(names.filter((name) => name.length > 64 || !/^[\w.-]+$/.test(name))).toEqual([])
  const long = names.find((name) => name.startsWith('names__mmm')) ?? ''
  expect(textOf(await client.callTool(long))).toBe('names')
  // Names of more than 128 characters are not listed (server/tools, tool names).
  expect(names.filter((name) => name.startsWith('names__nnn'))).toEqual([])
  return hostile
}

async function runRounds(user: User): Promise<readonly Outcome[]> {
  // The processes of the honest upstream start before the load begins.
  for (let round = 0; round < rounds; round += 1) await user.client.callTool('old-honest__sum', { a: 1, b: 2 })
  const outcomes: Outcome[] = []
  for (let round = 0; round < rounds; round += 1) outcomes.push(...(await runRound(user)))
  return outcomes
}

const listen = { method: 'subscriptions/listen', params: { notifications: { toolsListChanged: true } } }

test('upstreams that hang, send invalid results, flood and change their lists fail only their own calls, with their names, and no user receives data of another [GWY-001 GWY-005 GWY-006 GWY-007]', async () => {
  await using hostile = await startHostileUpstreams()
  const honest = await serveHttp(createFeatures())
  const honestTargets = { url: honest.url, program: features.path }
  const names = [...hostileCalls.map(([name]) => name), ...noisy, 'names', 'mute']
  const instances = await Promise.all([1, 2].map(() => serveHostileGateway(names, { hostile, honest: honestTargets })))
  const users = ['ada', 'grace'].map((subject) => openUser(subject, instances))
  const listening = new AbortController()
  const streams = users.map(({ exchange }) => send(exchange, listen, { signal: listening.signal }).catch(() => {}))
  const outcomes = (await Promise.all(users.map(runRounds))).flat()

  for (const [upstream, expected] of hostileCalls) {
    const own = outcomes.filter((outcome) => outcome.upstream === upstream)
    expect(own.some(({ message }) => expected.test(message))).toBe(true)
    for (const { message, named } of own) {
      expect(named).toBe(upstream)
      expect(message).toMatch(new RegExp(`^Upstream "${upstream}" (${expected.source}|is unreachable)`))
    }
  }
  for (const { upstream, message, canary } of outcomes) if (noisy.includes(upstream)) expect(message).toBe(canary)
  for (const { canary, received } of users) {
    const others = users.filter((user) => user.canary !== canary)
    for (const other of others) expect(received.filter((text) => text.includes(other.canary))).toEqual([])
    expect(received.some((text) => text.includes('notifications/progress') && text.includes(canary))).toBe(true)
    await expect.poll(() => received.some((text) => text.includes('notifications/tools/list_changed'))).toBe(true)
  }

  listening.abort()
  await Promise.all(streams)
  for (const user of users) await user[Symbol.asyncDispose]()
  await Promise.all(instances.map((http) => http.close({ graceMs: 0 })))
  await honest.close({ graceMs: 0 })
  await expect.poll(() => processesOf(features.path, hostileProgram)).toEqual([])
  for (const [behaviour] of hostileCalls)
    if (!behaviour.startsWith('old-')) expect(hostile.arrived.get(behaviour)).toBeGreaterThan(0)
  await expect.poll(hostile.sockets).toBe(0)
})
