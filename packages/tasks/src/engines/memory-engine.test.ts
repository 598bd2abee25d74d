import { describe, expect, test } from 'vitest'
import { engineContract } from '../contract/engine-contract.ts'
import { claimOne, createNewTask, sampleLifetimeMs, sampleOwner } from '../contract/samples.ts'
import { memoryEngine } from './memory-engine.ts'

describe('the engine in memory passes the contract of engines', () => {
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

test('a full engine rejects new tasks until a task has expired or ended', async () => {
  let time = 0
  const engine = memoryEngine({ maxTasks: 2, wallClock: () => time })
  await engine.create(createNewTask('a', { lifetimeMs: 1000 }))
  await engine.create(createNewTask('b'))
  await expect(engine.create(createNewTask('c'))).rejects.toThrow(
    'tasks have reached their limit, which is 2 for all callers',
  )
  time = 1000
  await engine.create(createNewTask('c'))
  expect((await engine.get('c', sampleOwner))?.status).toBe('working')
})

test('in a full engine a new task replaces the oldest ended task of the caller with the most tasks [ENG-009]', async () => {
  const engine = memoryEngine({ maxTasks: 3 })
  const lifetimeMs = sampleLifetimeMs
  for (const [id, owner] of [
    ['a', 'ada'],
    ['b', 'bob'],
    ['c', 'bob'],
  ] as const) {
    await engine.create(createNewTask(id, { owner }))
    await engine.finish(await claimOne(engine), { outcome: { status: 'cancelled' }, lifetimeMs })
  }
  await engine.create(createNewTask('d', { owner: 'eve' }))
  const kept = await Promise.all(['a', 'b', 'c', 'd'].map(async (id) => (await engine.inspect(id))?.id))
  expect(kept).toEqual(['a', undefined, 'c', 'd'])
})
