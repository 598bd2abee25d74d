import { expect, test } from 'vitest'
import { createTurns } from './session-turns.ts'

/** Creates work that is recorded, and leaves a transaction open or not. */
function recorder() {
  const done: string[] = []
  const work =
    (name: string, open = false) =>
    async (): Promise<boolean> => {
      done.push(`${name} begins`)
      await Promise.resolve()
      done.push(`${name} ends`)
      return open
    }
  const settled = async (): Promise<void> => new Promise((resolve) => setImmediate(resolve))
  return { done, work, settled }
}

test('work is done one after the other, in the order in which it came', async () => {
  const { done, work, settled } = recorder()
  const turns = createTurns<string>()
  turns.take('a', work('a1'))
  turns.take('b', work('b1'))
  await settled()
  expect(done).toEqual(['a1 begins', 'a1 ends', 'b1 begins', 'b1 ends'])
})

test('no other session runs a statement while a transaction is open', async () => {
  const { done, work, settled } = recorder()
  const turns = createTurns<string>()
  turns.take('a', work('a1', true))
  turns.take('b', work('b1'))
  turns.take('a', work('a2', true))
  await settled()
  expect(done.filter((line) => line.endsWith('ends'))).toEqual(['a1 ends', 'a2 ends'])
  turns.take('a', work('a3'))
  await settled()
  expect(done.filter((line) => line.endsWith('ends'))).toEqual(['a1 ends', 'a2 ends', 'a3 ends', 'b1 ends'])
})

test('who leaves takes its transaction back, and what it wanted besides is forgotten', async () => {
  const { done, work, settled } = recorder()
  const turns = createTurns<string>()
  turns.take('a', work('a1', true))
  turns.take('b', work('b1'))
  await settled()
  turns.take('c', work('c1'))
  turns.leave('c', work('nothing to take back'))
  turns.leave('a', work('rollback'))
  await settled()
  expect(done.filter((line) => line.endsWith('ends'))).toEqual(['a1 ends', 'rollback ends', 'b1 ends'])
})

test('who leaves in the middle of its work has it taken back afterwards', async () => {
  const { done, work, settled } = recorder()
  const turns = createTurns<string>()
  turns.take('a', work('a1', true))
  turns.leave('a', work('rollback'))
  turns.take('b', work('b1'))
  await settled()
  expect(done.filter((line) => line.endsWith('ends'))).toEqual(['a1 ends', 'rollback ends', 'b1 ends'])
})
