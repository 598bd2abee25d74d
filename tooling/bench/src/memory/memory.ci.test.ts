import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { MemoryAnswer, MemoryQuestion } from './answer-memory.ts'
import { minGrowth } from './min-growth.ts'
import { load } from './load.ts'
import { type Workload, workloads } from './requests.ts'

/**
 * The numbers of calls: before the first measurement of the heap, to compile code, and between two measurements.
 */
interface Amount {
  readonly warmUp: number
  readonly count: number
}

/** The number of repetitions. Each one ends with a measurement of the heap. */
const times = 3

const isNight = process.env['NIGHT'] === '1'

/**
 * The number of requests, and the growth of the heap for each of them without a leak. At night a leak of one empty object
 * per request is twice as large. For each change it is a leak of a call, which is fifteen times as large.
 */
const [requests, noisePerRequest] = isNight ? [10_000, 16] : [1000, 512]
const requestNoise = noisePerRequest * requests
const requestLeak = isNight ? 'leak-objects' : 'leak-calls'

/** The growth with new sockets is larger. A leaked stream retains fifteen times as much. */
const streams = isNight ? 1000 : 300
const streamNoise = 512 * streams

const dropped = [
  ['subscriptions', workloads.subscriptions],
  ['calls with progress', workloads.progress],
] as const

describe('the heap of an HTTP server', () => {
  let folder = ''
  let program = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'memory-'))
    program = join(folder, 'program.cjs')
    const entry = fileURLToPath(new URL('./our-server.ts', import.meta.url))
    await build({ entryPoints: [entry], bundle: true, outfile: program, format: 'cjs', platform: 'node' })
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  /** Returns the smallest growth of the heap of a server over the repetitions of a workload, in bytes. */
  const grow = async (work: Workload, { warmUp, count }: Amount, leak = 'no-leak'): Promise<number> => {
    // The child must not inherit the Node options of vitest.
    const child = fork(program, [leak], { execArgv: [] })
    try {
      const { url } = await ask(child, 'url')
      await load({ url, work, count: warmUp })
      const heaps = [(await ask(child, 'memory')).heapBytes]
      for (let time = 0; time < times; time += 1) {
        await load({ url, work, count })
        heaps.push((await ask(child, 'memory')).heapBytes)
      }
      return minGrowth(heaps)
    } finally {
      child.kill('SIGKILL')
    }
  }

  test('does not grow with many requests', async () => {
    expect(await grow(workloads.requests, { warmUp: Math.max(requests, 2000), count: requests })).toBeLessThan(
      requestNoise,
    )
  })

  test('shows a leak in half as many requests', async () => {
    const bytes = await grow(workloads.requests, { warmUp: 1000, count: requests / 2 }, requestLeak)
    expect(bytes).toBeGreaterThan(requestNoise)
  })

  test.each(dropped)('does not grow with many %s whose clients disconnect', async (_title, work) => {
    expect(await grow(work, { warmUp: streams, count: streams })).toBeLessThan(streamNoise)
  })

  test.each(dropped)('shows a leak of a quarter of the %s', async (_title, work) => {
    expect(await grow(work, { warmUp: 200, count: streams / 4 }, 'leak-calls')).toBeGreaterThan(streamNoise)
  })
})

async function ask(child: ChildProcess, question: MemoryQuestion['ask']): Promise<MemoryAnswer> {
  child.send({ ask: question })
  const [answer] = await once(child, 'message')
  // The program belongs to this package, and sends a value of this type.
  return answer as MemoryAnswer
}
