import { deepEqual } from 'node:assert/strict'
import type { TestEngines } from './engine-under-test.ts'
import { createClaimedTask, createNewTask, sampleOwner, waitUntil } from './samples.ts'

/** Tests of `notifications`. An engine without this member passes them all. */
export const notificationTests: readonly (readonly [string, (engines: TestEngines) => Promise<void>])[] = [
  [
    'changes that one instance publishes reach the listeners of every instance in order, until they are removed',
    async ({ here, there }) => {
      if (here.notifications === undefined || there.notifications === undefined) return
      const [nearTopics, farTopics]: [string[], string[]] = [[], []]
      const listenerFor = (topics: string[]) => ({
        onChange: ({ topic }: { topic: string }) => void topics.push(topic),
        onGap: () => {},
      })
      const stopFunctions = [
        await here.notifications.listen(listenerFor(nearTopics)),
        await there.notifications.listen(listenerFor(farTopics)),
      ]
      for (const topic of ['task:a', 'work', '']) await here.notifications.publish({ topic })
      await waitUntil(() => nearTopics.length === 3 && farTopics.length === 3)
      deepEqual(
        [nearTopics, farTopics],
        [
          ['task:a', 'work', ''],
          ['task:a', 'work', ''],
        ],
      )
      stopFunctions[1]?.()
      await there.notifications.publish({ topic: 'task:b' })
      await waitUntil(() => nearTopics.length === 4)
      deepEqual(farTopics.length, 3)
      stopFunctions[0]?.()
    },
  ],
  [
    'a change with a topic that is too long for a message becomes a gap, and the data of a change arrives with it',
    async ({ here, there }) => {
      if (here.notifications === undefined || there.notifications === undefined) return
      const receivedEvents: unknown[] = []
      const stop = await there.notifications.listen({
        onChange: (change) => receivedEvents.push(change),
        onGap: () => receivedEvents.push('gap'),
      })
      await here.notifications.publish({ topic: 'a', data: { b: [1, '\u00e9'] } })
      await here.notifications.publish({ topic: 'x'.repeat(20_000) })
      await here.notifications.publish({ topic: 'end' })
      await waitUntil(() => receivedEvents.length === 3)
      stop()
      deepEqual(receivedEvents[0], { topic: 'a', data: { b: [1, '\u00e9'] } })
      // An engine in memory sends no messages, so no topic is too long for it.
      if (receivedEvents[1] !== 'gap') deepEqual(receivedEvents[1], { topic: 'x'.repeat(20_000) })
      deepEqual(receivedEvents[2], { topic: 'end' })
    },
  ],
  [
    'listeners do not receive notifications of the engine, and published changes do not affect the engine',
    async ({ here, there }) => {
      if (here.notifications === undefined || there.notifications === undefined) return
      const notifiedTopics: string[] = []
      const workerEvents: string[] = []
      await there.notifications.listen({ onChange: ({ topic }) => void notifiedTopics.push(topic), onGap: () => {} })
      await there.listen({ onWork: () => void workerEvents.push('work'), onCancel: (id) => void workerEvents.push(id) })
      await createClaimedTask(here)
      await here.cancel('a', sampleOwner)
      for (const topic of ['work', 'cancel:b', 'end']) await here.notifications.publish({ topic })
      await waitUntil(() => notifiedTopics.includes('end') && workerEvents.includes('a'))
      await here.create(createNewTask('b'))
      await waitUntil(() => workerEvents.length === 3)
      deepEqual(
        [notifiedTopics, workerEvents],
        [
          ['work', 'cancel:b', 'end'],
          ['work', 'a', 'work'],
        ],
      )
    },
  ],
]
