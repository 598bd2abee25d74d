import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { createCall, type Server } from '@x/exchange'
import { manualClock } from '@tooling/vitest/manual-clock'
import { describe, expect, test } from 'vitest'
import { type Context, createServer, resourceTemplate, tool } from '../index.ts'
import { requestOf } from '../testing/ask.ts'
import {
  type ManualBus,
  createManualBus,
  type ListenStream,
  openListenStream,
  flushAsyncWork,
} from '../testing/listening.ts'

setFlagsFromString('--expose-gc')
const collect: () => void = runInNewContext('gc')

async function usedHeap(): Promise<number> {
  for (let round = 0; round < 4; round++) {
    await flushAsyncWork()
    collect()
  }
  return process.memoryUsage().heapUsed
}

const note = resourceTemplate('note://{id}', { name: 'note', read: () => '' })
const uris = ['note://a', 'note://b', 'note://c']
const principal = { issuer: 'https://a.example', subject: 'ada', expiresAt: Number.MAX_SAFE_INTEGER }

function serve() {
  const clock = manualClock()
  const bus = createManualBus({ atOnce: true })
  const offers = { tools: [], resourceTemplates: [note] }
  const server = createServer({ name: 'demo', version: '1.0.0', ...offers, subscriptions: { bus }, runtime: clock })
  return { clock, bus, server }
}

/** Opens some streams, each with a reader that is behind, and drops them. Gives what each of their calls held. */
async function openAndDrop(server: Server, bus: ManualBus, count: number): Promise<WeakRef<object>[]> {
  const streams: ListenStream[] = []
  const held: WeakRef<object>[] = []
  for (let index = 0; index < count; index++) {
    const backPressure = (): Promise<void> => new Promise(() => {})
    const filter = { toolsListChanged: true, resourceSubscriptions: [...uris, `note://${crypto.randomUUID()}`] }
    streams.push(await openListenStream(server, filter, { principal, backPressure }))
    held.push(new WeakRef(backPressure))
  }
  bus.change('tools')
  for (const stream of streams) stream.abort()
  await Promise.all(streams.map(({ response }) => response))
  return held
}

describe('of 5,000 streams that were opened and dropped', () => {
  test('nothing is left: no listener, no timer, no place, no memory', async () => {
    const { server, bus, clock } = serve()
    const batch = 100
    for (let opened = 0; opened < 3000; opened += batch) await openAndDrop(server, bus, batch)
    const before = await usedHeap()
    const held: WeakRef<object>[] = []
    for (let opened = 0; opened < 5000; opened += batch) held.push(...(await openAndDrop(server, bus, batch)))
    const after = await usedHeap()
    expect([bus.listeners, clock.waiting]).toEqual([0, 0])
    expect(held.filter((reference) => reference.deref() !== undefined)).toEqual([])
    // The references take some of it. A topic that stayed would take several hundred bytes a stream.
    expect(after - before).toBeLessThan(150 * 5000)
    // All places of the one principal are free again.
    await openAndDrop(server, bus, batch)
  })
})

test('definitions that were replaced are not kept by the streams that began with them', async () => {
  const { server } = serve()
  const replace = (): WeakRef<object> => {
    const large = { description: 'Large', run: (_: unknown, _ctx: Context) => '' }
    server.update({ tools: [tool('large', large)] })
    return new WeakRef(large)
  }
  const old = replace()
  const stream = await openListenStream(server, { toolsListChanged: true })
  server.update({ tools: [] })
  await usedHeap()
  expect(old.deref()).toBeUndefined()
  expect(stream.changes()).toEqual([])
})

test('a stream keeps neither the request that opened it nor a word of it', async () => {
  const { server } = serve()
  const controller = new AbortController()
  let acknowledged = (): void => {}
  const opened = new Promise<void>((resolve) => {
    acknowledged = resolve
  })
  const send = (): [Promise<unknown>, WeakRef<object>] => {
    const request = requestOf('subscriptions/listen', { notifications: { toolsListChanged: true } })
    return [
      server.exchange(request, createCall({ signal: controller.signal, notify: acknowledged })),
      new WeakRef(request.params ?? {}),
    ]
  }
  const [response, params] = send()
  await opened
  await usedHeap()
  expect(params.deref()).toBeUndefined()
  controller.abort()
  expect(await response).toMatchObject({ id: 1, result: { resultType: 'complete' } })
})
