import { setTimeout } from 'node:timers/promises'
import { randomFrom } from '@tooling/vitest/random'
import { sizeOf } from '@tooling/vitest/needs'
import { expect, test } from 'vitest'
import {
  databaseRestart,
  effectsByStep,
  environmentOf,
  expectNoTaskLeft,
  leaseMs,
  runUnderFaults,
  startChaosParts,
} from './chaos.ts'
import { driveTasks, type TaskOutcome, expectOutcomes } from './paint-tasks.ts'
import { startProcessFleet } from './process-fleet.ts'

// `TASKS_CHAOS_SEED=… npm test -- e2e tasks-chaos` repeats a run. The faults are the same, but their exact times differ.
const seed = Number(process.env['TASKS_CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const count = sizeOf({ change: 40, night: 200 })

const parts = startChaosParts()

test(`tasks end once, with the right result, while their processes and their database are killed (TASKS_CHAOS_SEED=${seed})`, async () => {
  process.stdout.write(`TASKS_CHAOS_SEED=${seed}, ${count} tasks\n`)
  await using fleet = await startProcessFleet(parts.program.path, 3, environmentOf(parts.database))
  const ended: TaskOutcome[] = []
  const faults = await runUnderFaults({ fleet, database: parts.database, random: randomFrom(seed) }, (isHit) =>
    driveTasks({ fleet, count, seed }, ended, isHit),
  )
  process.stdout.write(`${faults.length} faults: ${faults.join(', ')}\n`)
  expect([faults[1], fleet.crashes]).toEqual([databaseRestart, 0])

  // Every process runs again, and pending writes had time to finish.
  await setTimeout(leaseMs * 2)
  await expectOutcomes(fleet, ended, await effectsByStep(parts.pool))
  await expectNoTaskLeft(parts.database, parts.pool)
})
