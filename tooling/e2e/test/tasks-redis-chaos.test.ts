import { setTimeout } from 'node:timers/promises'
import { connectRedis, startRedis } from '@tooling/real-servers/redis'
import { randomFrom } from '@tooling/vitest/random'
import { sizeOf, testSeed } from '@tooling/vitest/needs'
import { taskAdmin } from '@x/tasks/admin'
import { redisEngine } from '@x/tasks/redis'
import { expect, test } from 'vitest'
import { databaseRestart, effectsByStep, environmentOf, leaseMs, runUnderFaults, startChaosParts } from './chaos.ts'
import { driveTasks, type TaskOutcome, expectOutcomes } from './paint-tasks.ts'
import { startProcessFleet } from './process-fleet.ts'

// The same seed has the same faults, but their exact times differ.
const count = sizeOf({ change: 60, night: 200 })

const parts = startChaosParts()

test(`tasks in Redis end once, with the right result, while their processes and Redis are killed (MCP_TEST_SEED=${testSeed})`, async () => {
  process.stdout.write(`MCP_TEST_SEED=${testSeed}, ${count} tasks\n`)
  const redis = await startRedis('redis-server')
  try {
    const environment = { ...environmentOf(parts.database), REDIS_URL: redis.url }
    await using fleet = await startProcessFleet(parts.program.path, 3, environment)
    const ended: TaskOutcome[] = []
    const faults = await runUnderFaults({ fleet, database: redis, random: randomFrom(testSeed) }, (isHit) =>
      driveTasks({ fleet, count, seed: testSeed }, ended, isHit),
    )
    process.stdout.write(`${faults.length} faults: ${faults.join(', ')}\n`)
    expect([faults[1], fleet.crashes]).toEqual([databaseRestart, 0])

    // Every process runs again, and pending writes of earlier claims had time to finish.
    await setTimeout(leaseMs * 2)
    await expectOutcomes(fleet, ended, await effectsByStep(parts.pool))
    await expectOnlyEndedTasks(redis.path)
  } finally {
    await redis.close()
  }
})

/** Rejects if a task is open, or if an ended task has a journal, answers or requests. */
async function expectOnlyEndedTasks(path: string): Promise<void> {
  const client = await connectRedis(path)
  const admin = taskAdmin(redisEngine(client))
  // A task whose creation was not confirmed waits for an answer that no client sends.
  const { tasks } = await admin.list({ status: 'input_required', limit: 1000 })
  for (const { id } of tasks) await admin.cancel(id)
  await expect.poll(() => admin.counts()).toEqual([])
  for (const kind of ['journal', 'answers', 'open'])
    expect(await client.sendCommand(['KEYS', `*${kind}:*`])).toEqual([])
  await admin.close()
  client.destroy()
}
