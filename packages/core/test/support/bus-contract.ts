import { expect, test } from 'vitest'
import type { ChangeBus } from '../../src/bus/change-bus.ts'
import { listenInTest, recordListener, publishMarker } from './record-listener.ts'

/** Three instances of a service on one bus, and the errors that they logged. */
export interface Fleet {
  readonly one: ChangeBus
  readonly other: ChangeBus
  readonly third: ChangeBus
  readonly errors: unknown[]
}

/** Tests the requirements for every bus. */
export function testBusContract(fleet: () => Fleet): void {
  testDelivery(fleet)
  testListenerIsolation(fleet)
  testContent(fleet)
}

/** Tests that a listener receives changes from its registration until its removal. */
function testDelivery(fleet: () => Fleet): void {
  test('a change reaches every listener of every instance once, also those of the publishing instance', async () => {
    const { one, other, third } = fleet()
    const all = [
      await recordListener(one),
      await recordListener(one),
      await recordListener(other),
      await recordListener(third),
    ]
    await one.publish({ topic: 'tools' })
    const marker = await publishMarker(one, all)
    for (const { topics, stop } of all) {
      expect(topics()).toEqual(['tools', marker])
      stop()
    }
  })

  test('a listener receives every change that any instance publishes after `listen` has resolved', async () => {
    const { one, other } = fleet()
    for (let round = 0; round < 30; round++) {
      const listener = await recordListener(one)
      await other.publish({ topic: `resource:${round}` })
      await expect.poll(listener.topics, { interval: 2 }).toEqual([`resource:${round}`])
      listener.stop()
    }
  })

  test('a ping resolves while the server is reachable [UNA-004]', async () => {
    await expect(fleet().one.ping?.()).resolves.toBeUndefined()
  })

  test('a removed listener receives nothing, and a second removal affects no other listener', async () => {
    const { one, other } = fleet()
    const [stopped, remaining, remote] = [
      await recordListener(one),
      await recordListener(one),
      await recordListener(other),
    ]
    stopped.stop()
    stopped.stop()
    await other.publish({ topic: 'tools' })
    await publishMarker(other, [remaining, remote])
    expect(stopped.received).toEqual([])
    expect(remaining.topics()).toContain('tools')
    remaining.stop()
    remote.stop()
  })

  test('changes can be published without listeners, and a new listener receives only later changes', async () => {
    const { one, other } = fleet()
    await one.publish({ topic: 'before' })
    const first = await recordListener(one)
    first.stop()
    await one.publish({ topic: 'after' })
    await other.publish({ topic: 'after' })
    const second = await recordListener(one)
    await other.publish({ topic: 'again' })
    await expect.poll(second.topics).toEqual(['again'])
    expect(first.topics()).not.toContain('after')
    second.stop()
  })
}

/** Tests that a listener cannot affect another listener. */
function testListenerIsolation(fleet: () => Fleet): void {
  test('the error of a listener that throws is logged, and the other listeners receive the change', async () => {
    const { one, other, errors } = fleet()
    const refuse = (): never => {
      throw new Error('this listener is broken')
    }
    const stop = await listenInTest(one, { onChange: refuse, onGap: refuse })
    const listener = await recordListener(one)
    await other.publish({ topic: 'tools' })
    await publishMarker(other, [listener])
    expect(errors).toContainEqual(new Error('this listener is broken'))
    stop()
    listener.stop()
  })

  test('a listener may publish, remove itself and add another listener during a notification', async () => {
    const { one } = fleet()
    const listener = await recordListener(one)
    let following: Promise<() => void> | undefined
    const stop = await listenInTest(one, {
      onChange: ({ topic }) => {
        if (topic !== 'begin' || following) return
        stop()
        following = one.listen({ onChange: () => {}, onGap: () => {} })
        void one.publish({ topic: 'follows' })
      },
      onGap: () => {},
    })
    await one.publish({ topic: 'begin' })
    await expect.poll(listener.topics).toEqual(['begin', 'follows'])
    const stopFollowing = await following
    stopFollowing?.()
    listener.stop()
  })

  test('listeners that are removed at once leave the bus unchanged', async () => {
    const { one, other } = fleet()
    const remaining = await recordListener(one)
    const additions = Array.from({ length: 200 }, async (_, at) => {
      const { stop } = await recordListener(at % 2 ? one : other)
      stop()
    })
    await Promise.all(additions)
    await publishMarker(other, [remaining])
    remaining.stop()
    const later = await recordListener(one)
    await publishMarker(other, [later])
    later.stop()
  })
}

/** Tests that changes arrive unaltered and in order. */
function testContent(fleet: () => Fleet): void {
  test('10,000 changes arrive in the order in which they were published', async () => {
    const { one, other } = fleet()
    const listener = await recordListener(other)
    const topics = Array.from({ length: 10_000 }, (_, at) => `resource:file:///${at}`)
    await Promise.all(topics.map((topic) => one.publish({ topic })))
    await expect.poll(() => listener.received.length).toBe(topics.length)
    expect(listener.topics()).toEqual(topics)
    listener.stop()
  })

  test.each([
    ['a URI', { topic: 'resource:file:///a%20b.txt' }],
    ['every plane of Unicode', { topic: 'resource:ünï/漢字/😀' }],
    ['an unpaired surrogate and NUL', { topic: 'a\ud800b\u0000c' }],
    ['quotes, backslashes and line ends', { topic: `'"\\\n\r\t{},NULL` }],
    ['the name of a prototype', { topic: '__proto__' }],
    ['no characters', { topic: '' }],
    ['several thousand characters', { topic: `resource:${'x'.repeat(7_000)}` }],
    ['data', { topic: 'task', data: { id: 'ü-1', list: [1, null, { deep: true }] } }],
  ])('a topic of %s arrives unaltered', async (_, change) => {
    const { one, other } = fleet()
    const listener = await recordListener(other)
    await one.publish(change)
    await expect.poll(() => listener.received).toEqual([change])
    listener.stop()
  })

  test('data with a member called __proto__ changes no prototype', async () => {
    const { one, other } = fleet()
    const listener = await recordListener(other)
    await one.publish({ topic: 'task', data: JSON.parse('{"__proto__":{"polluted":true}}') })
    await expect.poll(() => listener.received.length).toBe(1)
    const [change] = listener.received
    expect(typeof change === 'object' && Object.keys(change.data ?? {})).toEqual(['__proto__'])
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    listener.stop()
  })
}
