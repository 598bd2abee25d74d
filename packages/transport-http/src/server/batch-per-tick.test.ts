import { expect, test } from 'vitest'
import { runInNextBatch } from './run-call.ts'

test('what waits for the turn runs together, in order, and what it adds waits for the one after', async () => {
  const ran: string[] = []
  const turns: string[][] = []
  const endOfTurn = () => void turns.push(ran.splice(0))
  runInNextBatch(() => {
    ran.push('first')
    runInNextBatch(() => ran.push('third'))
  })
  runInNextBatch(() => ran.push('second'))
  expect(ran).toEqual([])
  for (const _ of ['this', 'after']) {
    await new Promise((resolve) => setImmediate(resolve))
    endOfTurn()
  }
  expect(turns).toEqual([['first', 'second'], ['third']])
})
