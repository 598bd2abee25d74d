import { expect, test } from 'vitest'
import { measureRounds, median, medianOf, type Round, sharesOf } from './alternating.ts'
import { readingOf } from './ratios.ts'

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
  expect(medianOf(rounds, 'ours', (value) => value)).toBe(700)
})

test('a round without the floor is an error', () => {
  expect(() => sharesOf([new Map([['ours', 1]])], share)).toThrow('no measurement of floor')
})

test.each([
  [[3], 3],
  [[9, 1, 5], 5],
  [[4, 1, 3, 2], 2.5],
  [[10, 9, 100], 10],
])('the median of %j is %d', (values, expected) => {
  expect(median(values)).toBe(expected)
})

test('an empty list has no median', () => {
  expect(() => median([])).toThrow('median of an empty list')
})

test('a reading has the ratio of its column, and that of CPU in the same rounds', () => {
  const one = (rate: number, cpu: number) => ({ rate, cpu })
  const rounds: Round<{ rate: number; cpu: number }>[] = [
    new Map([
      ['floor', one(1000, 10)],
      ['ours', one(800, 15)],
      ['by hand', one(400, 20)],
    ]),
  ]
  const column = { unit: '/s', of: ({ rate }: { rate: number }) => rate }
  expect(readingOf(rounds, { id: 'http/16', column })).toEqual({
    id: 'http/16',
    value: 0.8,
    ours: '800 /s',
    floor: '1,000 /s',
    cpu: 1.5,
  })
  expect(readingOf(rounds, { id: 'http/by-hand', base: 'by hand', column })).toMatchObject({ value: 2, cpu: 0.75 })
})
