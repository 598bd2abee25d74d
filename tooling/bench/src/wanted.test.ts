import { describe, expect, test } from 'vitest'
import { isReached, limitText, passes, type RatioId, type Reading, readingLine, wanted, wantedText } from './wanted.ts'

const reading = (id: RatioId, value: number): Reading => ({ id, value, ours: '8 calls/s', floor: '10 calls/s' })

describe('a ratio of which more is better', () => {
  test.each([
    [0.9, true, true],
    [0.8, false, true],
    [0.79, false, true],
    [0.57, false, true],
    [0.55, false, false],
    [Number.NaN, false, false],
  ])('of %d reaches its wanted value: %s, and passes: %s', (value, reached, passing) => {
    expect([isReached(reading('http/64', value)), passes(reading('http/64', value))]).toEqual([reached, passing])
  })
})

describe('a ratio of which less is better', () => {
  test.each([
    [1, true, true],
    [1.3, true, true],
    [1.31, false, true],
    [1.62, false, true],
    [1.63, false, false],
    [Number.NaN, false, false],
  ])('of %d reaches its wanted value: %s, and passes: %s', (value, reached, passing) => {
    expect([isReached(reading('http/tail', value)), passes(reading('http/tail', value))]).toEqual([reached, passing])
  })
})

test('the gate checks the value of today where a ratio is far from its wanted value', () => {
  const { atLeast, today } = wanted['rounds/16']
  expect(today).toBeLessThan(atLeast)
  expect([0.81, 0.79].map((share) => passes(reading('rounds/16', today * share)))).toEqual([true, false])
  expect(isReached(reading('rounds/16', today))).toBe(false)
  expect(wantedText('rounds/16')).toBe('>= 0.66')
})

test('the wanted value and the limit of the gate are formatted for both directions', () => {
  expect([wantedText('http/64'), limitText('http/64')]).toEqual(['>= 0.90', 'below 0.56'])
  expect([wantedText('http/tail'), limitText('http/tail')]).toEqual(['<= 1.30', 'above 1.63'])
})

test('a line states whether a ratio reaches its wanted value', () => {
  expect(readingLine(reading('http/64', 0.91))).toMatch(/^http\/64 +0\.91 x the floor {2}wanted >= 0\.90 {2}reached$/)
  expect(readingLine(reading('http/64', 0.79))).toMatch(/NOT REACHED$/)
})
