import { expect, test } from 'vitest'
import type { Verdict } from './judge.ts'
import { summaryLine, verdictLine } from './report.ts'

const verdict: Verdict = { scenario: 'caching', scored: true, outcome: 'pass', succeeded: 8, made: 8, skipped: 0 }

test('a scenario is one line with its outcome and its checks', () => {
  expect(verdictLine(verdict)).toBe('pass           caching (8/8 checks)')
})

test('a failing scenario names what failed', () => {
  expect(verdictLine({ ...verdict, outcome: 'fail', succeeded: 7, detail: 'ttl: absent' })).toBe(
    'fail           caching (7/8 checks) ttl: absent',
  )
})

test('checks that the suite skipped are shown', () => {
  expect(verdictLine({ ...verdict, skipped: 2 })).toBe('pass           caching (8/8 checks, 2 skipped)')
})

test('the summary counts passing scenarios alone', () => {
  const verdicts: Verdict[] = [
    verdict,
    { ...verdict, outcome: 'expected-fail' },
    { ...verdict, scored: false, outcome: 'skipped' },
    { ...verdict, scored: false },
  ]
  expect(summaryLine('server 2026-07-28', verdicts)).toBe('server 2026-07-28: 1/2 scored, 1/2 others')
})
