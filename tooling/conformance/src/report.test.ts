import { expect, test } from 'vitest'
import type { ScenarioResult } from './evaluate-scenario.ts'
import { formatSummary, formatResult } from './report.ts'

const result: ScenarioResult = { scenario: 'caching', scored: true, outcome: 'pass', succeeded: 8, made: 8, skipped: 0 }

test('a scenario is one line with its outcome and its checks', () => {
  expect(formatResult(result)).toBe('pass           caching (8/8 checks)')
})

test('the line of a failing scenario has the failed check', () => {
  expect(formatResult({ ...result, outcome: 'fail', succeeded: 7, detail: 'ttl: absent' })).toBe(
    'fail           caching (7/8 checks) ttl: absent',
  )
})

test('the line of a scenario has the number of skipped checks', () => {
  expect(formatResult({ ...result, skipped: 2 })).toBe('pass           caching (8/8 checks, 2 skipped)')
})

test('the summary counts only passing scenarios', () => {
  const results: ScenarioResult[] = [
    result,
    { ...result, outcome: 'expected-fail' },
    { ...result, scored: false, outcome: 'skipped' },
    { ...result, scored: false },
  ]
  expect(formatSummary('server 2026-07-28', results)).toBe('server 2026-07-28: 1/2 scored, 1/2 others')
})
