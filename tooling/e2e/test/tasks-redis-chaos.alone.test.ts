import { setTimeout } from 'node:timers/promises'
import { connectRedis, startRedis } from '@tooling/real-servers/redis'
import { randomFrom } from '@tooling/vitest/random'
import { taskAdmin } from '@x/tasks/admin'
import { redisEngine } from '@x/tasks/redis'
import { expect, test } from 'vitest'
import { databaseRestart, effectsByStep, environmentOf, leaseMs, makeTrouble, startChaosParts } from './chaos.ts'
import { driveTasks, type Ended, expectEnds } from './paint-tasks.ts'
import { startProcessFleet } from './process-fleet.ts'

// `TASKS_CHAOS_SEED=… TASKS_CHAOS_COUNT=… pnpm vitest run test/tasks-redis-chaos.alone.test.ts` does the same again, as far
// as the machine lets it.
const seed = Number(process.env['TASKS_CHAOS_SEED'] ?? Math.floor(Math.random() * 2 ** 32))
const count = Number(process.env['TASKS_CHAOS_COUNT'] ?? 60)

const parts = startChaosParts()

test(`tasks in Redis end once, with the right result, while their processes and Redis are killed (TASKS_CHAOS_SEED=${seed})`, async () => {
  process.stdout.write(`TASKS_CHAOS_SEED=${seed} TASKS_CHAOS_COUNT=${count}\n`)
  const redis = await startRedis('redis-server')
  try {
    const environment = { ...environmentOf(parts.database), REDIS_URL: redis.url }
    await using fleet = await startProcessFleet(parts.program.path, 3, environment)
    const ended: Ended[] = []
    const isOver = (): boolean => ended.length === count
    const trouble = makeTrouble({ fleet, database: redis, throwDie: randomFrom(seed), isOver })
    await driveTasks({ fleet, count, seed }, ended)
    const done = await trouble
    process.stdout.write(`${done.length} troubles: ${done.join(', ')}\n`)
    expect([done.includes(databaseRestart), done.length > 1, fleet.crashes]).toEqual([true, true, 0])

    // Every process works again, and has tried to write what an earlier claim still had to write.
    await setTimeout(leaseMs * 2)
    await expectEnds(fleet, ended, await effectsByStep(parts.pool))
    await expectOnlyEndedTasks(redis.path)
  } finally {
    await redis.close()
  }
}, 1_200_000)

/** Rejects if a task is still open, or if an ended one has a journal, answers or requests. */
async function expectOnlyEndedTasks(path: string): Promise<void> {
  const client = await connectRedis(path)
  const admin = taskAdmin(redisEngine(client))
  // A task whose creation was not confirmed to its client waits for an answer that no client sends.
  const { tasks } = await admin.list({ status: 'input_required', limit: 1000 })
  for (const { id } of tasks) await admin.cancel(id)
  await expect.poll(() => admin.counts()).toEqual([])
  for (const kind of ['journal', 'answers', 'open'])
    expect(await client.sendCommand(['KEYS', `*${kind}:*`])).toEqual([])
  await admin.close()
  client.destroy()
}
