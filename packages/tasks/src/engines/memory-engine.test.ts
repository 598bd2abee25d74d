import { describe, expect, test } from 'vitest'
import { engineContract } from '../contract/engine-contract.ts'
import { createNewTask, sampleOwner } from '../contract/samples.ts'
import { memoryEngine } from './memory-engine.ts'

describe('the engine in memory keeps the contract of engines', () => {
  const setUp = async () => {
    let time = 1_700_000_000_000
    const engine = memoryEngine({ wallClock: () => time })
    return {
      open: async () => engine,
      advanceTime: async (ms: number) => void (time += ms),
      close: () => engine.close(),
    }
  }
  for (const { title, run } of engineContract(setUp)) test(title, run)
})

test('no more tasks are kept than was said, unless some have expired', async () => {
  let time = 0
  const engine = memoryEngine({ maxTasks: 2, wallClock: () => time })
  await engine.create(createNewTask('a', { lifetimeMs: 1000 }))
  await engine.create(createNewTask('b'))
  await expect(engine.create(createNewTask('c'))).rejects.toThrow(
    'The memory engine keeps 2 tasks already: raise maxTasks, or use an engine with a database',
  )
  time = 1000
  await engine.create(createNewTask('c'))
  expect((await engine.get('c', sampleOwner))?.status).toBe('working')
})
