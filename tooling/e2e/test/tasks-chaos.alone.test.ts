import { setTimeout } from 'node:timers/promises'
import { randomFrom } from '@tooling/vitest/random'
import { expect, test } from 'vitest'
import {
  databaseRestart,
  effectsByStep,
  environmentOf,
  expectNoTaskLeft,
  leaseMs,
  makeTrouble,
  startChaosParts,
} from './chaos.ts'
import { driveTasks, type Ended, expectEnds } from './paint-tasks.ts'
import { startProcessFleet } from './process-fleet.ts'

// `TASKS_CHAOS_SEED=… TASKS_CHAOS_COUNT=… pnpm vitest run test/tasks-chaos.alone.test.ts` does the same again, as far as the
// machine lets it: what is chosen is the same, and when it happens to whom is as near as clocks are.
const seed = Number(process.env['TASKS_CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const count = Number(process.env['TASKS_CHAOS_COUNT'] ?? 200)

const parts = startChaosParts()

test(`tasks end once, with the right result, while their processes and their database are killed (TASKS_CHAOS_SEED=${seed})`, async () => {
  process.stdout.write(`TASKS_CHAOS_SEED=${seed} TASKS_CHAOS_COUNT=${count}\n`)
  await using fleet = await startProcessFleet(parts.program.path, 3, environmentOf(parts.database))
  const ended: Ended[] = []
  const trouble = makeTrouble({
    fleet,
    database: parts.database,
    throwDie: randomFrom(seed),
    isOver: () => ended.length === count,
  })
  await driveTasks({ fleet, count, seed }, ended)
  const done = await trouble
  process.stdout.write(`${done.length} troubles: ${done.join(', ')}\n`)
  expect([done.includes(databaseRestart), done.length > 1, fleet.crashes]).toEqual([true, true, 0])

  // Every process works again, and whatever one of them still meant to write it has tried to.
  await setTimeout(leaseMs * 2)
  await expectEnds(fleet, ended, await effectsByStep(parts.pool))
  await expectNoTaskLeft(parts.database, parts.pool)
}, 1_200_000)
