import { runConcurrently } from './run-concurrently.ts'
import type { Implementation, Runner } from './runner.ts'
import type { TaskRunner } from './task-runner.ts'

/** The throughput of one implementation in one round. */
export interface Throughput {
  readonly name: string
  readonly perSecond: number
  /** Microseconds of CPU of this process per task or job. */
  readonly cpuPerOne: number
}

/** The number of tasks or jobs, and the number of clients that create them concurrently. */
export interface Load {
  readonly count: number
  readonly clients: number
}

/** Creates the tasks or jobs of a load, and measures the time until the last of them has ended. */
export async function measureThroughput(
  { name, open }: Implementation,
  { count, clients }: Load,
  concurrency: number,
): Promise<Throughput> {
  const runner = await open({ concurrency })
  try {
    await doAll(runner, tokensOf('warm', Math.ceil(count / 5)), clients)
    const tokens = tokensOf('counted', count)
    const before = process.cpuUsage()
    const start = performance.now()
    await doAll(runner, tokens, clients)
    const milliseconds = performance.now() - start
    const { user, system } = process.cpuUsage(before)
    await runner.check(tokens)
    return { name, perSecond: (count * 1000) / milliseconds, cpuPerOne: (user + system) / count }
  } finally {
    await runner.close()
  }
}

async function doAll(runner: Runner, tokens: readonly string[], clients: number): Promise<void> {
  await runConcurrently(clients, tokens, runner.create)
  await Promise.all(tokens.map(runner.ended))
  await runner.settle()
}

/** Milliseconds of each task or job, in one round of one implementation. */
export interface Latencies {
  readonly name: string
  readonly fromSending: readonly number[]
  readonly fromAnswer: readonly number[]
}

/** Measures the time until handlers begin. Each client waits for the end of a task before it creates the next one. */
export async function measureStarts(
  { name, open }: Implementation,
  { count, clients }: Load,
  concurrency: number,
): Promise<Latencies> {
  const runner = await open({ concurrency })
  const doOne = async (token: string): Promise<void> => {
    await runner.create(token)
    await runner.ended(token)
  }
  try {
    await runConcurrently(clients, tokensOf('warm', clients * 2), doOne)
    await runner.settle()
    const tokens = tokensOf('counted', count)
    await runConcurrently(clients, tokens, doOne)
    await runner.settle()
    await runner.check(tokens)
    const { timestamps } = runner
    return {
      name,
      fromSending: timestamps.durations('sent', 'begun', tokens),
      fromAnswer: timestamps.durations('answered', 'begun', tokens),
    }
  } finally {
    await runner.close()
  }
}

/** Measures the milliseconds from the answer to a question until its handler continues. */
export async function measureResumptions(
  open: (options: { readonly concurrency: number }) => TaskRunner,
  { count, clients }: Load,
  concurrency: number,
): Promise<readonly number[]> {
  const runner = open({ concurrency })
  try {
    await runConcurrently(clients, tokensOf('warm', clients * 2), runner.ask)
    const tokens = tokensOf('counted', count)
    await runConcurrently(clients, tokens, runner.ask)
    await runner.check([])
    return runner.timestamps.durations('updated', 'resumed', tokens)
  } finally {
    await runner.close()
  }
}

function tokensOf(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${kind}-${index}`)
}
