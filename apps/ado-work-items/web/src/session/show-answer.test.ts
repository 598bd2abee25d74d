import { expect, test } from 'vitest'
import { toContent } from '@x/cli/web/forms/to-content.ts'
import { showAnswer } from './show-answer.ts'
import { showBytes, showCount, showDuration } from '@x/cli/web/units.ts'

test.each([
  [{ action: 'decline' }, 'declined'],
  [{ action: 'cancel' }, 'cancelled'],
  [{ action: 'accept' }, 'accepted'],
  [{ action: 'accept', content: { resolution: 'Duplicate' } }, 'Duplicate'],
  [{ action: 'accept', content: { a: true, b: 0, c: ['x', 'y'], d: undefined, e: false } }, 'yes · 0 · x, y · no'],
  [{ action: 'accept', content: { a: 'x'.repeat(200) } }, `${'x'.repeat(119)}…`],
] as const)('%o is shown as words', (answer, words) => {
  expect(showAnswer(answer)).toBe(words)
})

test('what was left empty is sent as left empty, so that no default takes its place', () => {
  const content = toContent(
    new Map<string, string | number | boolean | string[] | undefined>([
      ['a', 'x'],
      ['b', undefined],
      ['c', ['y']],
    ]),
  )
  expect(Object.entries(content)).toEqual([
    ['a', 'x'],
    ['b', undefined],
    ['c', ['y']],
  ])
})

test('sizes, durations and counts are in units for people', () => {
  expect([showBytes(0), showBytes(999), showBytes(1449)]).toEqual(['0 B', '999 B', '1.4 kB'])
  expect([showDuration(0.2), showDuration(84.4), showDuration(1234)]).toEqual(['1 ms', '84 ms', '1.2 s'])
  expect([showCount(1, 'round'), showCount(2, 'round')]).toEqual(['1 round', '2 rounds'])
})
