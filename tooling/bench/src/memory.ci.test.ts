import { isNight } from '@tooling/vitest/needs'
import { expect, test } from 'vitest'
import { load, type Work } from './memory.ts'
import { startServer } from './processes.ts'

/** The number of repetitions. Each one ends with a measurement of the heap. */
const times = 3

/**
 * The number of requests, the growth of the heap for each of them without a leak, and the number that shows a leak. At
 * night a leak of one empty object per request is twice as large, and a collection leaves some 300 KB more or less, which
 * half of the requests do not exceed. For each change it is a leak of a call, which is fifteen times as large.
 */
const [requests, noisePerRequest, leakingRequests] = isNight ? [10_000, 16, 10_000] : [1000, 512, 500]
const requestNoise = noisePerRequest * requests
const requestLeak = isNight ? 'leak-objects' : 'leak-calls'

/** The growth with new sockets is larger. A leaked stream retains fifteen times as much. */
const streams = isNight ? 1000 : 300
const streamNoise = 512 * streams

/** Returns the smallest growth of the heap of a server over some repetitions of a number of calls, in bytes. */
async function grow(
  work: Work,
  { warmUp, count }: { warmUp: number; count: number },
  leak = 'no-leak',
): Promise<number> {
  await using server = await startServer(`memory/server/${leak}`)
  const { url } = server
  await load(url, work, warmUp)
  const growths: number[] = []
  let before = (await server.ask('idle memory')).heapBytes
  for (let time = 0; time < times; time += 1) {
    await load(url, work, count)
    const after = (await server.ask('idle memory')).heapBytes
    growths.push(after - before)
    before = after
  }
  // Code that is compiled late, or a hash table that doubles, makes one step large. A leak makes every step large.
  return Math.min(...growths)
}

test.each([
  ['requests', 'requests'],
  ['calls that ask and are never answered [MRT-016]', 'suspended'],
] as const)('the heap of an HTTP server does not grow with many %s', async (_title, work) => {
  const warmUp = Math.max(requests, 3000)
  expect(await grow(work, { warmUp, count: requests })).toBeLessThan(requestNoise)
})

test.each(['requests', 'suspended'] as const)('the heap shows a leak of such calls: %s', async (work) => {
  expect(await grow(work, { warmUp: 1000, count: leakingRequests }, requestLeak)).toBeGreaterThan(requestNoise)
})

const dropped = ['subscriptions', 'progress'] as const

test.each(dropped)('the heap does not grow with many streams whose clients disconnect: %s', async (work) => {
  expect(await grow(work, { warmUp: streams, count: streams })).toBeLessThan(streamNoise)
})

test.each(dropped)('the heap shows a leak of a quarter of such streams: %s', async (work) => {
  expect(await grow(work, { warmUp: 200, count: streams / 4 }, 'leak-calls')).toBeGreaterThan(streamNoise)
})
