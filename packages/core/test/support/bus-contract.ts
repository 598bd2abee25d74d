import { expect, test } from 'vitest'
import type { ChangeBus } from '../../src/bus/change-bus.ts'
import { hearing, passMarker } from './hearing.ts'

/** Three instances of a service on one bus, and the errors that they logged. */
export interface Fleet {
  readonly one: ChangeBus
  readonly other: ChangeBus
  readonly third: ChangeBus
  readonly errors: unknown[]
}

/** What every bus must do. */
export function keepsBusContract(fleet: () => Fleet): void {
  reachesWhoListens(fleet)
  bearsItsListeners(fleet)
  carriesWhatIsSent(fleet)
}

/** From listening to stopping, whoever listens hears. */
function reachesWhoListens(fleet: () => Fleet): void {
  test('a change reaches every listener of every instance once, the publisher’s own too', async () => {
    const { one, other, third } = fleet()
    const all = [await hearing(one), await hearing(one), await hearing(other), await hearing(third)]
    await one.publish({ topic: 'tools' })
    const marker = await passMarker(one, all)
    for (const { topics, stop } of all) {
      expect(topics()).toEqual(['tools', marker])
      stop()
    }
  })

  test('what is published once listen has resolved is heard, however soon and by whom', async () => {
    const { one, other } = fleet()
    for (let round = 0; round < 30; round++) {
      const listener = await hearing(one)
      await other.publish({ topic: `resource:${round}` })
      await expect.poll(listener.topics, { interval: 2 }).toEqual([`resource:${round}`])
      listener.stop()
    }
  })

  test('a bus that can be reached answers a ping [UNA-004]', async () => {
    await expect(fleet().one.ping?.()).resolves.toBeUndefined()
  })

  test('who has stopped hears nothing, and stopping twice stops nobody else', async () => {
    const { one, other } = fleet()
    const [stopped, stays, far] = [await hearing(one), await hearing(one), await hearing(other)]
    stopped.stop()
    stopped.stop()
    await other.publish({ topic: 'tools' })
    await passMarker(other, [stays, far])
    expect(stopped.heard).toEqual([])
    expect(stays.topics()).toContain('tools')
    stays.stop()
    far.stop()
  })

  test('publishing is possible before anybody listens and after the last has stopped, and who listens again hears what comes then', async () => {
    const { one, other } = fleet()
    await one.publish({ topic: 'before' })
    const first = await hearing(one)
    first.stop()
    await one.publish({ topic: 'after' })
    await other.publish({ topic: 'after' })
    const second = await hearing(one)
    await other.publish({ topic: 'again' })
    await expect.poll(second.topics).toEqual(['again'])
    expect(first.topics()).not.toContain('after')
    second.stop()
  })
}

/** Nothing that a listener does harms another. */
function bearsItsListeners(fleet: () => Fleet): void {
  test('a listener that throws keeps no other from its change, and is logged', async () => {
    const { one, other, errors } = fleet()
    const refuse = (): never => {
      throw new Error('this listener is broken')
    }
    const stop = await one.listen({ onChange: refuse, onGap: refuse })
    const listener = await hearing(one)
    await other.publish({ topic: 'tools' })
    await passMarker(other, [listener])
    expect(errors).toContainEqual(new Error('this listener is broken'))
    stop()
    listener.stop()
  })

  test('a listener may publish, stop itself and begin another one while it is told', async () => {
    const { one } = fleet()
    const listener = await hearing(one)
    let following: Promise<() => void> | undefined
    const stop = await one.listen({
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

  test('those who come and go at once leave the bus as they found it', async () => {
    const { one, other } = fleet()
    const stays = await hearing(one)
    const visits = Array.from({ length: 200 }, async (_, at) => {
      const { stop } = await hearing(at % 2 ? one : other)
      stop()
    })
    await Promise.all(visits)
    await passMarker(other, [stays])
    stays.stop()
    const back = await hearing(one)
    await passMarker(other, [back])
    back.stop()
  })
}

/** What is sent comes, as it was and in its order. */
function carriesWhatIsSent(fleet: () => Fleet): void {
  test('10,000 changes come in the order in which they were published', async () => {
    const { one, other } = fleet()
    const listener = await hearing(other)
    const topics = Array.from({ length: 10_000 }, (_, at) => `resource:file:///${at}`)
    await Promise.all(topics.map((topic) => one.publish({ topic })))
    await expect.poll(() => listener.heard.length).toBe(topics.length)
    expect(listener.topics()).toEqual(topics)
    listener.stop()
  }, 60_000)

  test.each([
    ['a URI', { topic: 'resource:file:///a%20b.txt' }],
    ['every plane of Unicode', { topic: 'resource:ünï/漢字/😀' }],
    ['half of a surrogate pair, and NUL', { topic: 'a\ud800b\u0000c' }],
    ['quotes, backslashes and line ends', { topic: `'"\\\n\r\t{},NULL` }],
    ['the name of a prototype', { topic: '__proto__' }],
    ['no character at all', { topic: '' }],
    ['several thousand characters', { topic: `resource:${'x'.repeat(7_000)}` }],
    ['data', { topic: 'task', data: { id: 'ü-1', list: [1, null, { deep: true }] } }],
  ])('a topic of %s comes as it was sent', async (_, change) => {
    const { one, other } = fleet()
    const listener = await hearing(other)
    await one.publish(change)
    await expect.poll(() => listener.heard).toEqual([change])
    listener.stop()
  })

  test('data with a member called __proto__ changes no prototype', async () => {
    const { one, other } = fleet()
    const listener = await hearing(other)
    await one.publish({ topic: 'task', data: JSON.parse('{"__proto__":{"polluted":true}}') })
    await expect.poll(() => listener.heard.length).toBe(1)
    const [change] = listener.heard
    expect(typeof change === 'object' && Object.keys(change.data ?? {})).toEqual(['__proto__'])
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
    listener.stop()
  })
}
