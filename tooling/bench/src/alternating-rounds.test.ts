import { expect, test } from 'vitest'
import { measureRounds, medianOf, shareOf, sharesOf, spreadText } from './alternating-rounds.ts'

const targets = [{ name: 'floor' }, { name: 'ours' }]
const share = { name: 'ours', base: 'floor', of: (value: number) => value }

test('every other round has the reverse order', async () => {
  const order: string[] = []
  await measureRounds(targets, 3, async ({ name }) => order.push(name))
  expect(order).toEqual(['floor', 'ours', 'ours', 'floor', 'floor', 'ours'])
})

test('a share is formed within a round, so that a slow round has no effect on it', () => {
  const rounds = [
    [1000, 800],
    [100, 80],
    [1000, 700],
  ].map(([floor = 0, ours = 0]) => new Map(Object.entries({ floor, ours })))
  expect(sharesOf(rounds, share)).toEqual([0.8, 0.8, 0.7])
  expect(shareOf(rounds, share)).toBe(0.8)
  expect(medianOf(rounds, 'ours', (value) => value)).toBe(700)
})

test('a round without the floor is an error', () => {
  expect(() => shareOf([new Map([['ours', 1]])], share)).toThrow('no measurement of floor')
})

test('the spread is reported in percent', () => {
  expect(spreadText([0.8, 0.75, 0.9])).toBe('(75.0 to 90.0 %)')
})
