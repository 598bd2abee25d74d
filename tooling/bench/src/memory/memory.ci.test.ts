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
 * Amounts of work: before the first measurement of the heap, until which code is compiled, and between two measurements.
 */
interface Amount {
  readonly warmUp: number
  readonly count: number
}

/** How often the work is done, with a look at the heap behind each time. */
const times = 3

const requests = 10_000
const streams = 1000

/**
 * Bytes by which the heap of a process may grow by itself. The smallest thing that a request could leave behind makes
 * twice of it.
 */
const requestNoise = 16 * requests
/** Sockets that come and go move it more; a stream that is forgotten holds twenty times as much. */
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

  /** The bytes by which the heap of a server grows at least, each time that it does some work. */
  const grow = async (work: Workload, { warmUp, count }: Amount, leak = 'no-leak'): Promise<number> => {
    // What vitest gives its own processes is not meant for this one.
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

  test('is as it was before many requests', async () => {
    expect(await grow(workloads.requests, { warmUp: requests, count: requests })).toBeLessThan(requestNoise)
  })

  test('would show it if half as many requests left an empty object', async () => {
    const bytes = await grow(workloads.requests, { warmUp: 1000, count: requests / 2 }, 'leak-objects')
    expect(bytes).toBeGreaterThan(requestNoise)
  })

  test.each(dropped)('is as it was before many %s whose clients went away', async (_title, work) => {
    expect(await grow(work, { warmUp: streams, count: streams })).toBeLessThan(streamNoise)
  })

  test.each(dropped)('would show it if a quarter of %s were kept', async (_title, work) => {
    expect(await grow(work, { warmUp: 200, count: streams / 4 }, 'leak-calls')).toBeGreaterThan(streamNoise)
  })
})

async function ask(child: ChildProcess, question: MemoryQuestion['ask']): Promise<MemoryAnswer> {
  child.send({ ask: question })
  const [answer] = await once(child, 'message')
  // The program is this package's own, and answers what its type says.
  return answer as MemoryAnswer
}
