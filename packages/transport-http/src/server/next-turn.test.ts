import { expect, test } from 'vitest'
import { nextTurn } from './next-turn.ts'

test('what waits for the turn runs together, in order, and what it adds waits for the one after', async () => {
  const ran: string[] = []
  const turns: string[][] = []
  const endOfTurn = () => void turns.push(ran.splice(0))
  nextTurn(() => {
    ran.push('first')
    nextTurn(() => ran.push('third'))
  })
  nextTurn(() => ran.push('second'))
  expect(ran).toEqual([])
  for (const _ of ['this', 'after']) {
    await new Promise((resolve) => setImmediate(resolve))
    endOfTurn()
  }
  expect(turns).toEqual([['first', 'second'], ['third']])
})
