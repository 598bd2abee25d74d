import { deepEqual } from 'node:assert/strict'
import type { Bench } from './engine-under-test.ts'
import { claimedTask, newTask, owner } from './samples.ts'
import { until } from './until.ts'

/** What the instances of an engine tell each other on behalf of others, where the engine offers that. */
export const tellingNews: readonly (readonly [string, (bench: Bench) => Promise<void>])[] = [
  [
    'news that one instance tells are heard at every other and at its own, in their order, until nobody listens',
    async ({ here, there }) => {
      if (here.news === undefined || there.news === undefined) return
      const [near, far]: [string[], string[]] = [[], []]
      const hear = (topics: string[]) => ({
        onChange: ({ topic }: { topic: string }) => void topics.push(topic),
        onGap: () => {},
      })
      const stops = [await here.news.listen(hear(near)), await there.news.listen(hear(far))]
      for (const topic of ['task:a', 'work', '']) await here.news.publish({ topic })
      await until(() => near.length === 3 && far.length === 3)
      deepEqual(
        [near, far],
        [
          ['task:a', 'work', ''],
          ['task:a', 'work', ''],
        ],
      )
      stops[1]?.()
      await there.news.publish({ topic: 'task:b' })
      await until(() => near.length === 4)
      deepEqual(far.length, 3)
      stops[0]?.()
    },
  ],
  [
    'news with a topic that is too long for a message are heard as a gap, and data of a change arrives with it',
    async ({ here, there }) => {
      if (here.news === undefined || there.news === undefined) return
      const heard: unknown[] = []
      const stop = await there.news.listen({ onChange: (change) => heard.push(change), onGap: () => heard.push('gap') })
      await here.news.publish({ topic: 'a', data: { b: [1, '\u00e9'] } })
      await here.news.publish({ topic: 'x'.repeat(20_000) })
      await here.news.publish({ topic: 'end' })
      await until(() => heard.length === 3)
      stop()
      deepEqual(heard[0], { topic: 'a', data: { b: [1, '\u00e9'] } })
      // An engine in this process has no messages, and nothing is too long for it.
      if (heard[1] !== 'gap') deepEqual(heard[1], { topic: 'x'.repeat(20_000) })
      deepEqual(heard[2], { topic: 'end' })
    },
  ],
  [
    'what the engine tells itself is no news, and news are nothing that it obeys',
    async ({ here, there }) => {
      if (here.news === undefined || there.news === undefined) return
      const news: string[] = []
      const told: string[] = []
      await there.news.listen({ onChange: ({ topic }) => void news.push(topic), onGap: () => {} })
      await there.listen({ onWork: () => void told.push('work'), onCancel: (id) => void told.push(id) })
      await claimedTask(here)
      await here.cancel('a', owner)
      for (const topic of ['work', 'cancel:b', 'end']) await here.news.publish({ topic })
      await until(() => news.includes('end') && told.includes('a'))
      await here.create(newTask('b'))
      await until(() => told.length === 3)
      deepEqual(
        [news, told],
        [
          ['work', 'cancel:b', 'end'],
          ['work', 'a', 'work'],
        ],
      )
    },
  ],
]
