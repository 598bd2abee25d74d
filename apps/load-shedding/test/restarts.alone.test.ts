import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { get } from 'node:http'
import { join } from 'node:path'
import { describeNeeding, isNight } from '@tooling/vitest/needs'
import { beforeAll, describe, expect, test } from 'vitest'
import type { CallView } from '../src/board/snapshot.ts'
import type { BalancerName } from '../src/fleet/balancer.ts'
import { openStage } from '../src/trial/open-stage.ts'

// The tests run the built instances in child processes.
beforeAll(() => {
  if (!existsSync(join(import.meta.dirname, '../dist/instance/instance.js')))
    throw new Error('dist is missing: run "pnpm turbo run build --filter=@apps/load-shedding..."')
})

async function open(balancer: BalancerName, sheds = true) {
  const failures: unknown[] = []
  const stage = await openStage({ balancer, sheds, size: 3, port: 0, onFailure: (error) => failures.push(error) })
  const pids = () => stage.board.lanes().map(({ pid }) => pid)
  return { stage, failures, pids, [Symbol.asyncDispose]: () => stage.stop() }
}

function restartsLoseNothing(balancer: BalancerName): void {
  test('every instance is restarted in turn under load: no call is lost, and no work is repeated', async () => {
    await using fixture = await open(balancer)
    const { stage, failures, pids } = fixture
    const before = pids()
    stage.setLevel('steady')
    stage.load.burst(9)
    await expect.poll(() => stage.board.calls().filter(({ instance }) => instance > 0).length).toBeGreaterThan(3)
    await stage.restartAll()
    stage.setLevel('off')
    await stage.load.whenIdle()
    expect(new Set([...before, ...pids()]).size).toBe(6)
    const { completed, lost, wrong, moved, repeated } = stage.board.totals()
    expect({ lost, wrong, repeated, failures }).toEqual({ lost: 0, wrong: 0, repeated: 0, failures: [] })
    expect(completed).toBeGreaterThanOrEqual(9)
    expect(moved).toBeGreaterThan(0)
  })
}

describe("behind Node's cluster", () => {
  if (isNight) restartsLoseNothing('cluster')

  test('without shedding, a restart of an overloaded instance makes its clients repeat work', async () => {
    await using fixture = await open('cluster', false)
    const { stage } = fixture
    stage.fleet.overload(1, true)
    stage.load.burst(9)
    const callsInProgress = () =>
      stage.board.calls().filter(({ instance, progress }) => instance === 1 && progress > 0.05)
    await expect.poll(() => callsInProgress().length).toBeGreaterThan(0)
    await stage.fleet.restart(1)
    await stage.load.whenIdle()
    const { completed, wrong, moved, repeated } = stage.board.totals()
    expect({ completed, wrong, moved }).toEqual({ completed: 9, wrong: 0, moved: 0 })
    expect(repeated).toBeGreaterThan(0)
  })

  test('a connection on its way to an instance that stops is passed to another one', async () => {
    await using fixture = await open('cluster')
    const { stage, pids } = fixture
    const url = new URL('/healthz', stage.fleet.url)
    // One for each instance, as the cluster takes turns.
    const requests = pids().map(() => get(url, { agent: false }))
    const responses = Promise.all(requests.map((request) => once(request, 'response')))
    // They are connected after this tick, and the cluster has not accepted them yet.
    await new Promise<void>((resolve) => process.nextTick(resolve))
    const restarted = stage.fleet.restart(1)
    // The primary does not run for long enough that an instance without connections could exit meanwhile.
    Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 500)
    expect((await responses).map(([{ statusCode }]) => statusCode)).toEqual([200, 200, 200])
    for (const request of requests) request.destroy()
    await restarted
  })

  test('a killed instance is replaced, and its calls start again from the beginning', async () => {
    await using fixture = await open('cluster')
    const { stage, pids } = fixture
    const [killed] = pids()
    stage.load.burst(9)
    // A hundredth of a call is at least one chunk of its work.
    const isWorking = ({ instance, moves, progress }: CallView): boolean =>
      instance === 1 && moves === 0 && progress > 0.01
    await expect.poll(() => stage.board.calls().some(isWorking), { interval: 5 }).toBe(true)
    stage.fleet.kill(1)
    await expect.poll(() => stage.board.lanes()[0]?.status).toBe('down')
    await expect.poll(() => stage.board.lanes()[0]?.status).toBe('ready')
    expect(pids()[0]).not.toBe(killed)
    await stage.load.whenIdle()
    const { completed, repeated, wrong } = stage.board.totals()
    expect({ completed, wrong }).toEqual({ completed: 9, wrong: 0 })
    // The client sends a lost call again, and the next instance repeats its work.
    expect(repeated).toBeGreaterThan(0)
  })
})

// For each change, the trial of the program restarts every instance behind the cluster, and the deployments of tooling/e2e
// those behind HAProxy.
for (const balancer of isNight ? (['nginx', 'haproxy'] as const) : []) {
  describeNeeding(balancer, `behind ${balancer}`, () => restartsLoseNothing(balancer))
}
