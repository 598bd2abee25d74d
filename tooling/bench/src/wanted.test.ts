import { expect, test } from 'vitest'
import { isReached, type RatioId, type Reading, readingLine, wantedText } from './wanted.ts'

const reading = (id: RatioId, value: number): Reading => ({ id, value, ours: '8 calls/s', floor: '10 calls/s' })

test.each([
  ['http/64', 0.9, true],
  ['http/64', 0.89, false],
  ['http/64', Number.NaN, false],
  ['http/tail', 1.3, true],
  ['http/tail', 1.31, false],
  ['http/tail', Number.NaN, false],
] as const)('%s of %d reaches its wanted value: %s', (id, value, reached) => {
  expect(isReached(reading(id, value))).toBe(reached)
})

test('the wanted value is formatted for both directions', () => {
  expect([wantedText('http/64'), wantedText('http/tail')]).toEqual(['>= 0.90', '<= 1.30'])
})

test('a line states whether a ratio reaches its wanted value', () => {
  expect(readingLine(reading('http/64', 0.91))).toMatch(/^http\/64 +0\.91 x the floor {2}wanted >= 0\.90 {2}reached$/)
  expect(readingLine(reading('http/64', 0.79))).toMatch(/NOT REACHED$/)
})
