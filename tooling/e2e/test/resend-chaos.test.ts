import { setTimeout } from 'node:timers/promises'
import { randomFrom } from '@tooling/vitest/random'
import { sizeOf, testSeed } from '@tooling/vitest/needs'
import { createStateTable } from '@x/state-codec/postgres'
import { expect, test } from 'vitest'
import { effectsByStep, environmentOf, expectNoTaskLeft, leaseMs, runUnderFaults, startChaosParts } from './chaos.ts'
import { startCuttingProxy } from './cutting-proxy.ts'
import { startProcessFleet } from './process-fleet.ts'
import { colorFor, type Job, type ResendRun, runClient } from './resending-client.ts'

const taskCount = sizeOf({ change: 12, night: 500 })
const callCount = sizeOf({ change: 48, night: 2000 })

const clientCount = 8

const parts = startChaosParts(createStateTable)

/** Returns all jobs in a random order that depends on the seed. */
function createJobs(random: () => number): Job[] {
  const tasksOf = Array.from({ length: taskCount }, (_, index): Job => ({ tool: 'paint', name: `task-${index}` }))
  const callsOf = Array.from({ length: callCount }, (_, index): Job => ({ tool: 'pair', name: `call-${index}` }))
  const shuffled = [...tasksOf, ...callsOf].map((job) => ({ job, at: random() }))
  return shuffled.sort((a, b) => a.at - b.at).map(({ job }) => job)
}

/** Returns the only valid result of a job. */
function expectedText({ tool, name }: Job, effects: ReadonlyMap<string, string>): string {
  const [one, two, three] = ['one', 'two', 'three'].map((step) => effects.get(`${name}/${step}`))
  if (tool === 'paint') return [name, one, two, colorFor(`Which color has ${name}?`), three].join(' ')
  const [first, second] = ['first', 'second'].map((which) => colorFor(`Which color has the ${which} of ${name}?`))
  return [name, one, first, two, second, three].join(' ')
}

test(`every call ends without a manual retry, and no work is done twice (MCP_TEST_SEED=${testSeed})`, async () => {
  process.stdout.write(`MCP_TEST_SEED=${testSeed}, ${taskCount} tasks and ${callCount} calls\n`)
  await using fleet = await startProcessFleet(parts.program.path, 3, environmentOf(parts.database))
  await using proxy = await startCuttingProxy({ ports: () => fleet.ports, random: randomFrom(testSeed + 1) })
  const counts = { sent: 0, lost: 0, unavailable: 0 }
  const outcomes: ResendRun['outcomes'] = []
  const jobs = createJobs(randomFrom(testSeed + 2))
  let extra = 0
  const faults = await runUnderFaults(
    { fleet, database: parts.database, random: randomFrom(testSeed) },
    async (isHit) => {
      const isOver = (): boolean => isHit() && proxy.cuts > 5 && counts.lost > 5
      const nextJob = (): Job | undefined =>
        jobs.pop() ?? (isOver() ? undefined : { tool: 'pair', name: `extra-${extra++}` })
      const run: ResendRun = { nextJob, counts, outcomes }
      await Promise.all(Array.from({ length: clientCount }, (_, index) => runClient(proxy.url, `caller-${index}`, run)))
    },
  )
  const { sent, lost, unavailable } = counts
  process.stdout.write(
    `${faults.length} faults: ${faults.join(', ')}
${proxy.cuts} of ${proxy.connections} connections cut; of ${sent} requests ${lost} had no response and ${unavailable} could not be stored\n`,
  )

  const failed = outcomes.filter(({ text }) => text.startsWith('failed: '))
  expect(failed).toEqual([])
  expect(fleet.crashes).toBe(0)
  // Every process runs again, and pending writes had time to finish.
  await setTimeout(leaseMs * 2)
  const effects = await effectsByStep(parts.pool)
  expect(effects.size).toBe((taskCount + callCount + extra) * 3)
  for (const { text, ...job } of outcomes) expect(text).toBe(expectedText(job, effects))
  // A task without a client would be one more row.
  const { rows } = await parts.pool.query(
    'SELECT status, count(*)::integer AS count FROM mcp_tasks.task GROUP BY status',
  )
  expect(rows).toEqual([{ status: 'completed', count: taskCount }])
  await expectNoTaskLeft(parts.database, parts.pool)
})
