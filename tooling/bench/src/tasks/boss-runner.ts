import type { PgBoss } from 'pg-boss'
import { createCompletions } from './completions.ts'
import { runConcurrently } from './run-concurrently.ts'
import { createTimestamps } from './timestamps.ts'
import { checkRuns, countRun, type Runner, resultOf } from './runner.ts'

/** The data of a job. */
interface JobData {
  readonly token: string
}

const queue = 'alone'

/**
 * Opens pg-boss alone, with the fastest configuration of its documentation. NOTIFY wakes one worker, which fetches as
 * many jobs at once as may run, fetches again while batches are full, and completes each job by itself. This is faster
 * than the same number of workers with one job each.
 */
export async function openBossRunner(openBoss: () => PgBoss, concurrency: number): Promise<Runner> {
  const timestamps = createTimestamps()
  const ends = createCompletions()
  const runs = new Map<string, number>()
  const ids = new Map<string, string>()
  const boss = openBoss()
  boss.on('error', ends.fail)
  await boss.start()
  await boss.createQueue(queue, { notify: true })

  const handle = async ({ token }: JobData): Promise<{ readonly text: string }> => {
    timestamps.record('begun', token)
    countRun(runs, token)
    ends.complete(token)
    return { text: resultOf(token) }
  }
  const options = { batchSize: concurrency, burstWhenBatchFull: true, perJobResults: true } as const
  const begin = async (): Promise<void> => {
    await boss.work<JobData, unknown, typeof options>(queue, options, (jobs) =>
      Promise.all(jobs.map(async ({ id, data }) => ({ id, status: 'completed', output: await handle(data) }) as const)),
    )
  }
  await begin()
  return {
    timestamps,
    create: async (token) => {
      timestamps.record('sent', token)
      const id = await boss.send(queue, { token } satisfies JobData)
      timestamps.record('answered', token)
      if (id === null) throw new Error(`pg-boss did not accept the job of ${token}: the queue must accept every job`)
      ids.set(token, id)
    },
    ended: ends.wait,
    // Only a worker that stops waits until its jobs are completed.
    settle: async () => {
      await boss.offWork(queue)
      await begin()
    },
    check: async (tokens) => {
      checkRuns(runs, tokens)
      await runConcurrently(16, tokens, async (token) => checkJob(boss, token, ids.get(token) ?? ''))
    },
    close: () => boss.stop({ graceful: false }),
  }
}

async function checkJob(boss: PgBoss, token: string, id: string): Promise<void> {
  const [job] = await boss.findJobs(queue, { id })
  const wanted = JSON.stringify({ text: resultOf(token) })
  if (job?.state === 'completed' && JSON.stringify(job.output) === wanted) return
  throw new Error(`the job of ${token} is ${job?.state ?? 'missing'}: it must be completed with ${wanted}`)
}
