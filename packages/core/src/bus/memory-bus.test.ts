import { expect, test } from 'vitest'
import { ListenerRegistry, memoryBus } from './memory-bus.ts'

test('a listener that publishes a change for each change does not deepen the stack', async () => {
  const bus = memoryBus()
  let left = 50_000
  const publishNext = (): void => void (left-- > 0 && bus.publish({ topic: 'again' }))
  await bus.listen({ onChange: publishNext, onGap: () => {} })
  await bus.publish({ topic: 'again' })
  expect(left).toBe(-1)
})

test('a listener that another listener removes does not receive the current change', () => {
  const listeners = new ListenerRegistry(() => {})
  const onChange: string[] = []
  let stopSecond = (): void => {}
  listeners.add({ onChange: () => stopSecond(), onGap: () => {} })
  stopSecond = listeners.add({ onChange: ({ topic }) => onChange.push(topic), onGap: () => {} })
  listeners.notifyChange({ topic: 'tools' })
  expect([onChange, listeners.count]).toEqual([[], 1])
})

test('a listener that is added twice is called twice, and each removal removes one', () => {
  const listeners = new ListenerRegistry(() => {})
  let gaps = 0
  const listener = { onChange: () => {}, onGap: () => void gaps++ }
  const [stop] = [listeners.add(listener), listeners.add(listener)]
  listeners.notifyGap()
  stop()
  listeners.notifyGap()
  expect([gaps, listeners.count]).toEqual([3, 1])
})

test('a log that throws does not prevent the delivery of a change', async () => {
  const fail = (): never => {
    throw new Error('broken')
  }
  const bus = memoryBus({ log: fail })
  const onChange: string[] = []
  await bus.listen({ onChange: fail, onGap: fail })
  await bus.listen({ onChange: ({ topic }) => onChange.push(topic), onGap: () => {} })
  await bus.publish({ topic: 'tools' })
  await bus.publish({ topic: 'prompts' })
  expect(onChange).toEqual(['tools', 'prompts'])
})
