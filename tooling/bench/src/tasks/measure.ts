import { inLanes } from './in-lanes.ts'
import type { Contender, Runner } from './runner.ts'
import type { TaskRunner } from './task-runner.ts'

/** What was measured of one contender in one round. */
export interface Throughput {
  readonly name: string
  readonly perSecond: number
  /** Microseconds of CPU of this process, for one of them. */
  readonly cpuPerOne: number
}

/** How many, and how many of them under way. */
export interface Load {
  readonly count: number
  readonly lanes: number
}

/** Has so many created by so many clients, and waits until the last of them has ended. */
export async function measureThroughput(
  { name, open }: Contender,
  { count, lanes }: Load,
  concurrency: number,
): Promise<Throughput> {
  const runner = await open({ concurrency })
  try {
    await doAll(runner, tokensOf('warm', Math.ceil(count / 5)), lanes)
    const tokens = tokensOf('counted', count)
    const before = process.cpuUsage()
    const start = performance.now()
    await doAll(runner, tokens, lanes)
    const milliseconds = performance.now() - start
    const { user, system } = process.cpuUsage(before)
    await runner.check(tokens)
    return { name, perSecond: (count * 1000) / milliseconds, cpuPerOne: (user + system) / count }
  } finally {
    await runner.close()
  }
}

async function doAll(runner: Runner, tokens: readonly string[], lanes: number): Promise<void> {
  await inLanes(lanes, tokens, runner.create)
  await Promise.all(tokens.map(runner.ended))
  await runner.settle()
}

/** Milliseconds of each, in one round of one contender. */
export interface Latencies {
  readonly name: string
  readonly fromSending: readonly number[]
  readonly fromAnswer: readonly number[]
}

/** How long it takes until handlers begin: each lane waits for the end of one before it sends the next. */
export async function measureStarts(
  { name, open }: Contender,
  { count, lanes }: Load,
  concurrency: number,
): Promise<Latencies> {
  const runner = await open({ concurrency })
  const doOne = async (token: string): Promise<void> => {
    await runner.create(token)
    await runner.ended(token)
  }
  try {
    await inLanes(lanes, tokensOf('warm', lanes * 2), doOne)
    await runner.settle()
    const tokens = tokensOf('counted', count)
    await inLanes(lanes, tokens, doOne)
    await runner.settle()
    await runner.check(tokens)
    const { moments } = runner
    return {
      name,
      fromSending: moments.between('sent', 'begun', tokens),
      fromAnswer: moments.between('answered', 'begun', tokens),
    }
  } finally {
    await runner.close()
  }
}

/** How long it takes, in milliseconds, from sending an answer until its handler goes on behind the question. */
export async function measureResumptions(
  open: (options: { readonly concurrency: number }) => TaskRunner,
  { count, lanes }: Load,
  concurrency: number,
): Promise<readonly number[]> {
  const runner = open({ concurrency })
  try {
    await inLanes(lanes, tokensOf('warm', lanes * 2), runner.ask)
    const tokens = tokensOf('counted', count)
    await inLanes(lanes, tokens, runner.ask)
    await runner.check([])
    return runner.moments.between('updated', 'resumed', tokens)
  } finally {
    await runner.close()
  }
}

function tokensOf(kind: string, count: number): readonly string[] {
  return Array.from({ length: count }, (_, index) => `${kind}-${index}`)
}
