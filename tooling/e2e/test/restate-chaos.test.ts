import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, createServer, type Server } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { findFreePort } from '@tooling/real-servers/free-port'
import { type RealRestate, startRestate } from '@tooling/real-servers/restate'
import { randomFrom } from '@tooling/vitest/random'
import { sizeOf } from '@tooling/vitest/needs'
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

// `RESTATE_CHAOS_SEED=… npm test -- e2e restate-chaos` repeats a run.
const seed = Number(process.env['RESTATE_CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const count = sizeOf({ change: 20, night: 200 })

const parts = startChaosParts()

/** A process that runs tasks for Restate. It keeps its port after a restart. */
interface RestateWorker {
  readonly port: number
  replace(): Promise<void>
  freeze(ms: number): Promise<void>
  end(): Promise<void>
}

async function startWorker(environment: NodeJS.ProcessEnv): Promise<RestateWorker> {
  const port = await findFreePort()
  const env = { ...process.env, VITEST: undefined, RESTATE_LOGGING: 'ERROR', ...environment, WORKER_PORT: String(port) }
  const start = async (): Promise<ChildProcess> => {
    const started = spawn(process.execPath, [parts.program.path], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    await once(started.stdout, 'data')
    return started
  }
  let child = await start()
  const end = async (): Promise<void> => {
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  return {
    port,
    end,
    replace: async () => {
      await end()
      child = await start()
    },
    freeze: async (ms) => {
      child.kill('SIGSTOP')
      await setTimeout(ms)
      child.kill('SIGCONT')
    },
  }
}

/** Forwards connections in turn to the workers, like the balancer that Restate calls. */
async function startBalancer(ports: readonly number[]): Promise<Server> {
  let turn = 0
  const server = createServer((socket) => {
    const target = connect(Number(ports[turn++ % ports.length]), '127.0.0.1')
    for (const [one, other] of [
      [socket, target],
      [target, socket],
    ] as const) {
      one.on('error', () => other.destroy())
      one.on('close', () => other.destroy())
      one.pipe(other)
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return server
}

interface ChaosTargets {
  readonly fleet: ProcessFleet
  readonly workers: readonly RestateWorker[]
  readonly server: RealRestate
}

/** Runs a load while workers are killed and frozen, and instances and Restate killed. The first faults are one of each kind. */
async function runUnderFaults({ fleet, workers, server }: ChaosTargets, load: Load): Promise<readonly string[]> {
  const random = randomFrom(seed)
  const kinds = ['kill a worker', 'kill Restate', 'freeze a worker', 'kill an instance']
  return repeatFaults(load, async (faults) => {
    await setTimeout(300 + random() * 700)
    const kind = kinds[faults.length] ?? kinds[Math.floor(random() * kinds.length)] ?? ''
    const worker = workers[Math.floor(random() * workers.length)]
    faults.push(kind)
    if (kind === 'kill a worker') await worker?.replace()
    else if (kind === 'freeze a worker') await worker?.freeze(leaseMs * (1.5 + random()))
    else if (kind === 'kill an instance') await fleet.replace(Math.floor(random() * 2))
    else {
      await server.kill()
      await setTimeout(random() * 1000)
      await server.restart()
    }
  })
}

test(`tasks that run on Restate end once, with the right result, while Restate and its workers are killed [ENG-011 ENG-012] (RESTATE_CHAOS_SEED=${seed})`, async () => {
  process.stdout.write(`RESTATE_CHAOS_SEED=${seed}, ${count} tasks\n`)
  const server = await startRestate()
  const environment = { ...environmentOf(parts.database), RESTATE_INGRESS: server.ingress }
  const workers = [await startWorker(environment), await startWorker(environment)]
  const balancer = await startBalancer(workers.map(({ port }) => port))
  try {
    await using fleet = await startProcessFleet(parts.program.path, 2, environment)
    const address = balancer.address()
    await server.register(`http://127.0.0.1:${typeof address === 'object' && address?.port}`)
    const ended: TaskOutcome[] = []
    const faults = await runUnderFaults({ fleet, workers, server }, (isHit) =>
      driveTasks({ fleet, count, seed }, ended, isHit),
    )
    process.stdout.write(`${faults.length} faults: ${faults.join(', ')}\n`)
    expect([...faults.slice(0, 2), fleet.crashes]).toEqual(['kill a worker', 'kill Restate', 0])
    await setTimeout(leaseMs * 2)
    await expectOutcomes(fleet, ended, await effectsByStep(parts.pool))
    await expectNoTaskLeft(parts.database, parts.pool)
  } finally {
    balancer.close()
    await Promise.all(workers.map((worker) => worker.end()))
    await server.close()
  }
})
