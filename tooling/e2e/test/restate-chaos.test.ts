import { setTimeout } from 'node:timers/promises'
import { findFreePort } from '@tooling/real-servers/free-port'
import { type RealRestate, startRestate } from '@tooling/real-servers/restate'
import { randomFrom } from '@tooling/vitest/random'
import { sizeOf, testSeed } from '@tooling/vitest/needs'
import { expect, test } from 'vitest'
import {
  effectsByStep,
  environmentOf,
  expectNoTaskLeft,
  leaseMs,
  type Load,
  repeatFaults,
  startChaosParts,
} from './chaos.ts'
import { driveTasks, type TaskOutcome, expectOutcomes } from './paint-tasks.ts'
import { type ProcessFleet, startProcessFleet } from './process-fleet.ts'
import { startTcpBalancer } from './tcp-balancer.ts'

const count = sizeOf({ change: 20, night: 200 })

const parts = startChaosParts()

/** A process that runs tasks for Restate, as a fleet of one. It keeps its port after a restart. */
interface RestateWorker {
  readonly port: number
  readonly fleet: ProcessFleet
}

async function startWorker(environment: NodeJS.ProcessEnv): Promise<RestateWorker> {
  const port = await findFreePort()
  const env = { RESTATE_LOGGING: 'ERROR', ...environment, WORKER_PORT: String(port) }
  return { port, fleet: await startProcessFleet(parts.program.path, 1, env) }
}

interface ChaosTargets {
  readonly fleet: ProcessFleet
  readonly workers: readonly RestateWorker[]
  readonly server: RealRestate
}

/** Runs a load while workers are killed and frozen, and instances and Restate killed. The first faults are one of each kind. */
async function runUnderFaults({ fleet, workers, server }: ChaosTargets, load: Load): Promise<readonly string[]> {
  const random = randomFrom(testSeed)
  const kinds = ['kill a worker', 'kill Restate', 'freeze a worker', 'kill an instance']
  return repeatFaults(load, async (faults) => {
    await setTimeout(300 + random() * 700)
    const kind = kinds[faults.length] ?? kinds[Math.floor(random() * kinds.length)] ?? ''
    const worker = workers[Math.floor(random() * workers.length)]
    faults.push(kind)
    if (kind === 'kill a worker') await worker?.fleet.replace(0)
    else if (kind === 'freeze a worker') await worker?.fleet.freeze(0, leaseMs * (1.5 + random()))
    else if (kind === 'kill an instance') await fleet.replace(Math.floor(random() * 2))
    else {
      await server.kill()
      await setTimeout(random() * 1000)
      await server.restart()
    }
  })
}

test(`tasks that run on Restate end once, with the right result, while Restate and its workers are killed [ENG-011 ENG-012] (MCP_TEST_SEED=${testSeed})`, async () => {
  process.stdout.write(`MCP_TEST_SEED=${testSeed}, ${count} tasks\n`)
  const server = await startRestate()
  const environment = { ...environmentOf(parts.database), RESTATE_INGRESS: server.ingress }
  const workers = [await startWorker(environment), await startWorker(environment)]
  using balancer = await startTcpBalancer(workers.map(({ port }) => port))
  try {
    await using fleet = await startProcessFleet(parts.program.path, 2, environment)
    await server.register(balancer.url)
    const ended: TaskOutcome[] = []
    const faults = await runUnderFaults({ fleet, workers, server }, (isHit) =>
      driveTasks({ fleet, count, seed: testSeed }, ended, isHit),
    )
    process.stdout.write(`${faults.length} faults: ${faults.join(', ')}\n`)
    expect([...faults.slice(0, 2), fleet.crashes]).toEqual(['kill a worker', 'kill Restate', 0])
    await setTimeout(leaseMs * 2)
    await expectOutcomes(fleet, ended, await effectsByStep(parts.pool))
    await expectNoTaskLeft(parts.database, parts.pool)
  } finally {
    await Promise.all(workers.map((worker) => worker.fleet[Symbol.asyncDispose]()))
    await server.close()
  }
})
