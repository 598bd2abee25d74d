import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describeNeeding, sizeOf } from '@tooling/vitest/needs'
import { createClient } from '@x/client'
import { connectHttp } from '@x/transport-http/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { textOf } from './asking.ts'
import { type Instance, startInstance, stopInstances } from './balanced-processes.ts'
import { type ChildProgram, bundleProgram } from './child-program.ts'
import { roundObserver } from './round-observer.ts'
import { haproxy, type ProxySetup, startProxy, findFreePort } from './proxies.ts'

// The night has three deployments under calls of 35 s, a grace period of 10 s and health checks once a second, as in
// production. A change has one deployment and a fifth of each time. The start time of a process is not scaled.
const scale = sizeOf({ change: 0.2, night: 1 })
const callCount = sizeOf({ change: 32, night: 64 })
const deploymentCount = sizeOf({ change: 1, night: 3 })
const instanceCount = 4
const stepCount = 70
const stepMs = 500 * scale
const checkMs = 1000 * scale
const graceMs = 10_000 * scale

let program: ChildProgram
beforeAll(async () => {
  program = await bundleProgram(new URL('./programs/shedding-instance.ts', import.meta.url))
})
afterAll(async () => {
  await program?.[Symbol.asyncDispose]()
})

/** The outcome of one call: the text of its result or error, when it was handed off, and the duration. */
interface Outcome {
  readonly text: string
  readonly handedOffAt: readonly number[]
  readonly ms: number
}

/** Makes one call with its own client and connection. */
async function callOnce(url: string): Promise<Outcome> {
  await using connection = connectHttp(url)
  const handedOffAt: number[] = []
  const extensions = [
    roundObserver(({ status }) => void (status !== 'complete' && handedOffAt.push(performance.now()))),
  ]
  const client = createClient(connection, { name: 'e2e-client', version: '1.0.0', extensions })
  const startedAt = performance.now()
  const text = await client.callTool('work').then(textOf, (error) => `failed: ${error}`)
  return { text, handedOffAt, ms: performance.now() - startedAt }
}

/** Replaces all instances, one after another, `deploymentCount` times. */
async function deploy(instances: Instance[], start: (index: number) => Promise<Instance>): Promise<void> {
  for (let deployment = 0; deployment < deploymentCount; deployment += 1) {
    for (const [index, old] of instances.entries()) {
      old.child.kill('SIGTERM')
      expect(await old.exited).toEqual([0, null])
      instances[index] = await start(index)
    }
  }
}

/** Returns the minimum, the median and the maximum of numbers. */
function spreadOf(numbers: readonly number[]): readonly number[] {
  const sorted = numbers.toSorted((a, b) => a - b)
  return [0, Math.floor(sorted.length / 2), sorted.length - 1].map((at) => Math.round(sorted[at] ?? 0))
}

interface Run {
  readonly outcomes: readonly Outcome[]
  /** The idempotency key of each step that ran. */
  readonly steps: readonly string[]
}

/** Runs all calls while all instances are replaced. `path` is the path of HAProxy. */
async function runDeployments(path: string, setup: Omit<ProxySetup, 'ports'>): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'deployments-'))
  const effects = join(folder, 'effects')
  const ports = await Promise.all(Array.from({ length: instanceCount }, findFreePort))
  const start = (index: number): Promise<Instance> =>
    startInstance(program.path, {
      PORT: String(ports[index]),
      EFFECTS: effects,
      SHEDS: join(folder, 'sheds'),
      STEPS: String(stepCount),
      STEP_MS: String(stepMs),
      NOTICE_MS: String((setup.checkMs ?? 0) * 2),
      GRACE_MS: String(graceMs),
    })
  const instances = await Promise.all(ports.map((_, index) => start(index)))
  try {
    await using proxy = await startProxy(path, haproxy, { ports, ...setup })
    const calls = Array.from({ length: callCount }, () => callOnce(proxy.url))
    // Every call runs at an instance before the first one stops.
    const countStarted = async (): Promise<number> =>
      new Set((await readLines(effects)).map((key) => key.split('/')[0])).size
    await expect.poll(countStarted).toBe(callCount)
    const startedAt = performance.now()
    const deployed = deploy(instances, start).then(() => performance.now() - startedAt)
    const outcomes = await Promise.all(calls)
    const stopMs = (await deployed) / (instanceCount * deploymentCount)
    const lost = outcomes.filter(({ text }) => text.startsWith('failed: '))
    process.stdout.write(
      `${lost.length} of ${callCount} lost; hand-offs ${spreadOf(outcomes.map(({ handedOffAt }) => handedOffAt.length)).join('/')}; ` +
        `ms ${spreadOf(outcomes.map(({ ms }) => ms)).join('/')}; ${Math.round(stopMs)} ms for each stop\n`,
    )
    return { outcomes, steps: await readLines(effects) }
  } finally {
    await stopInstances(instances)
    await rm(folder, { recursive: true })
  }
}

async function readLines(path: string): Promise<readonly string[]> {
  const text = await readFile(path, 'utf8').catch(() => '')
  return text.split('\n').filter((line) => line !== '')
}

function expectNothingLost({ outcomes, steps }: Run): void {
  expect(outcomes.filter(({ text }) => text.startsWith('failed: '))).toEqual([])
  expect(new Set(outcomes.map(({ text }) => text)).size).toBe(callCount)
  expect(steps).toHaveLength(callCount * stepCount)
  expect(new Set(steps).size).toBe(steps.length)
}

/**
 * Each instance that handed a call off again kept it for its share of the grace: half at the second and third hand-off,
 * three quarters at each later one. So no call follows a deployment from each instance to the next.
 */
function expectStays({ handedOffAt }: Outcome): void {
  const shares = handedOffAt.slice(1).map((at, index) => (at - (handedOffAt[index] ?? 0)) / graceMs)
  expect(shares.filter((share, index) => share < (index < 2 ? 1 / 2 : 3 / 4))).toEqual([])
}

describeNeeding('haproxy', 'deployments without a pause, behind HAProxy', (path) => {
  test.each([
    ['leastconn and health checks', { checkMs }],
    ['round robin and no health checks', { redispatches: true }],
  ])('with %s, no call is lost, and none moves before its share of each grace [UNA-005]', async (_title, setup) => {
    const run = await runDeployments(path, setup)
    expectNothingLost(run)
    run.outcomes.forEach(expectStays)
  })
})
