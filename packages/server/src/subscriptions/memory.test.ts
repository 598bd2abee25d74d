import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeAll, describe, expect, test } from 'vitest'
import { createServer, resourceTemplate } from '../index.ts'
import { callOf, requestOf } from '../testing/ask.ts'
import { createManualBus, flushAsyncWork } from '../testing/listening.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

async function usedHeap(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    await flushAsyncWork()
    collect()
  }
  return process.memoryUsage().heapUsed
}

const streams = 160
const urisPerStream = 100
const note = resourceTemplate('note://{id}', { name: 'note', read: () => '' })

interface Shape {
  /** The number in a URI, from those of its stream and its place in the filter. */
  readonly number: (stream: number, at: number) => number
  /** Characters of each URI. */
  readonly length: number
  /** Every URI changes while all readers are behind. */
  readonly behind?: boolean
}

/** Bytes that a server keeps for some streams. Nothing that they were sent is kept here. */
async function heapOf(uriCount: number, { number, length, behind = false }: Shape): Promise<number> {
  const bus = createManualBus({ atOnce: true })
  const subscriptions = { bus }
  const server = createServer({ name: 'demo', version: '1.0.0', tools: [], resourceTemplates: [note], subscriptions })
  const controllers: AbortController[] = []
  const responses: Promise<unknown>[] = []
  const uriOf = (stream: number, at: number): string => `note://${number(stream, at)}`.padEnd(length, '-')
  const open = async (stream: number): Promise<void> => {
    const uris = Array.from({ length: uriCount }, (_, at) => uriOf(stream, at))
    const request = requestOf('subscriptions/listen', { notifications: { resourceSubscriptions: uris } })
    const controller = new AbortController()
    controllers.push(controller)
    // As a transport does: the strings of a request are its own.
    const received = JSON.parse(JSON.stringify(request))
    await new Promise<void>((resolve) => {
      const call = callOf({
        signal: controller.signal,
        notify: () => resolve(),
        // As many callers as the bounds of one ask for.
        clientAddress: `192.0.2.${stream % 10}`,
        ...(behind && { backPressure: never }),
      })
      responses.push(server.exchange(received, call))
    })
  }
  const before = await usedHeap()
  for (let stream = 0; stream < streams; stream++) await open(stream)
  if (behind) bus.gap()
  const after = await usedHeap()
  for (const controller of controllers) controller.abort()
  await Promise.all(responses)
  return after - before
}

function never(): Promise<void> {
  return new Promise(() => {})
}

const apart = (stream: number, at: number): number => 100_000 + stream * urisPerStream + at
const inPairs = (stream: number, at: number): number => apart(Math.floor(stream / 2), at)

describe('the memory that a stream takes for a URI', () => {
  // The first run pays for what is made once.
  beforeAll(async () => {
    await heapOf(urisPerStream, { number: apart, length: 13, behind: true })
  })

  test.each<[string, Shape, number]>([
    ['that no other stream has', { number: apart, length: 13 }, 160],
    // Node 22 takes 181 bytes.
    ['that one other stream has', { number: inPairs, length: 13 }, 190],
    ['that all streams have', { number: (_, at) => apart(0, at), length: 13 }, 160],
    ['of 200 characters', { number: apart, length: 200 }, 4 * 200],
    ['that changed while the reader was behind', { number: apart, length: 13, behind: true }, 160],
  ])('%s is within its bound', async (_, shape, bound) => {
    const bare = await heapOf(0, shape)
    const full = await heapOf(urisPerStream, shape)
    const bytes = Math.round((full - bare) / (streams * urisPerStream))
    expect(bytes).toBeGreaterThan(0)
    expect(bytes).toBeLessThanOrEqual(bound)
  })
})
