import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { formatStep, formatSummary } from './transcript.ts'

const report = {
  number: 3,
  title: 'Which bugs?',
  ask: 'tools/call',
  lines: ['one', 'two'],
  instances: [1, 2],
  ms: 12.4,
}

test('a step shows what was asked, what came back, who answered and how long it took', () => {
  expect(plain(formatStep(report))).toEqual([
    `✔  3  Which bugs?${' '.repeat(62)}instance 1, 2 · 12 ms`,
    '    → tools/call',
    '    ← one',
    '      two',
    '',
  ])
})

test('a step that went wrong says why', () => {
  const lines = plain(formatStep({ ...report, lines: [], instances: [], problem: 'it should be found' }))
  expect([lines[0]?.[0], lines[0]?.includes('no answer'), lines[2]]).toEqual(['✘', true, '    ✘ it should be found'])
})

test('no line is wider than a hundred columns, and long answers are cut', () => {
  const long = {
    title: 'T'.repeat(95),
    ask: 'a '.repeat(300),
    lines: Array.from({ length: 30 }, () => 'x'.repeat(250)),
  }
  const lines = plain(formatStep({ ...report, ...long }))
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(100)
  expect(lines.at(-2)).toBe('      … 22 more lines')
})

test.each([60, 80])('in a terminal of %i columns, lines break between words', (columns) => {
  const words = 'resolve the item and tell everybody about it '.repeat(9).trim()
  const lines = plain(formatStep({ ...report, title: words, ask: words, lines: [words] }, columns))
  expect(Math.max(...lines.map((line) => line.length))).toBeLessThanOrEqual(columns)
  const shown = lines
    .join(' ')
    .match(/[a-z]+/g)
    ?.filter((word) => word !== 'instance' && word !== 'ms')
  expect(shown).toEqual(`${words} ${words} ${words}`.split(' '))
})

test.each([
  [0, 'All 12 steps went as expected.'],
  [2, '2 of 12 steps did not go as expected.'],
])('with %i failed steps the summary says so', (failed, text) => {
  expect(stripVTControlCharacters(formatSummary(12, failed))).toBe(text)
})

function plain(text: string): string[] {
  return stripVTControlCharacters(text).split('\n')
}
