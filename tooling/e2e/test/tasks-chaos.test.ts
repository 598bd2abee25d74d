import { setTimeout } from 'node:timers/promises'
import { randomFrom } from '@tooling/vitest/random'
import { sizeOf, testSeed } from '@tooling/vitest/needs'
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

// The same seed has the same faults, but their exact times differ.
const count = sizeOf({ change: 40, night: 200 })

const parts = startChaosParts()

test(`tasks end once, with the right result, while their processes and their database are killed (MCP_TEST_SEED=${testSeed})`, async () => {
  process.stdout.write(`MCP_TEST_SEED=${testSeed}, ${count} tasks\n`)
  await using fleet = await startProcessFleet(parts.program.path, 3, environmentOf(parts.database))
  const ended: TaskOutcome[] = []
  const faults = await runUnderFaults({ fleet, database: parts.database, random: randomFrom(testSeed) }, (isHit) =>
    driveTasks({ fleet, count, seed: testSeed }, ended, isHit),
  )
  process.stdout.write(`${faults.length} faults: ${faults.join(', ')}\n`)
  expect([faults[1], fleet.crashes]).toEqual([databaseRestart, 0])

  // Every process runs again, and pending writes had time to finish.
  await setTimeout(leaseMs * 2)
  await expectOutcomes(fleet, ended, await effectsByStep(parts.pool))
  await expectNoTaskLeft(parts.database, parts.pool)
})
