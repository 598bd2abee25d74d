import { describe, expect, test } from 'vitest'
import { judge, type ScenarioRun } from './judge.ts'

const run = (changes: Partial<ScenarioRun> = {}): ScenarioRun => ({
  scenario: 'tools-list',
  scored: true,
  exitCode: 0,
  checks: [
    { id: 'one', status: 'SUCCESS' },
    { id: 'two', status: 'INFO' },
    { id: 'three', status: 'SKIPPED' },
  ],
  ...changes,
})
const failing = (...ids: string[]): ScenarioRun =>
  run({ exitCode: 1, checks: ids.map((id) => ({ id, status: 'FAILURE', errorMessage: `${id} broke\nat a line` })) })

describe('a scenario that is not expected to fail', () => {
  test('passes when every check is good, and skipped checks are not counted', () => {
    expect(judge(run(), undefined)).toMatchObject({ outcome: 'pass', succeeded: 2, made: 2, skipped: 1 })
  })

  test.each(['FAILURE', 'WARNING', 'SOMETHING_NEW'])('fails by a check with status %s', (status) => {
    expect(judge(run({ checks: [{ id: 'one', status }] }), undefined)).toMatchObject({
      outcome: 'fail',
      detail: `one: ${status}`,
    })
  })

  test('fails when the suite does, though every check passed', () => {
    expect(judge(run({ exitCode: 1 }), undefined)).toMatchObject({ outcome: 'fail' })
  })

  test('fails when it is scored and nothing was checked', () => {
    expect(judge(run({ checks: [] }), undefined)).toMatchObject({ outcome: 'fail' })
  })

  test('is skipped when it is not scored and nothing was checked', () => {
    expect(judge(run({ checks: [{ id: 'one', status: 'SKIPPED' }], scored: false }), undefined).outcome).toBe('skipped')
  })

  test('shows the first line of the first failing check', () => {
    expect(judge(failing('one', 'two'), undefined).detail).toBe('one: one broke')
  })
})

describe('a scenario that is listed as an expected failure', () => {
  const reason = 'not written yet'

  test('fails as expected', () => {
    expect(judge(failing('one'), { scenario: 'tools-list', reason }).outcome).toBe('expected-fail')
  })

  test('is stale once it passes', () => {
    expect(judge(run(), { scenario: 'tools-list', reason }).outcome).toBe('stale')
  })

  test('fails when a check fails that is not listed', () => {
    expect(judge(failing('one', 'two'), { scenario: 'tools-list', checks: ['one'], reason })).toMatchObject({
      outcome: 'fail',
      detail: 'unlisted check two: two broke',
    })
  })

  test('is stale once one of its listed checks passes', () => {
    const verdict = judge(failing('one'), { scenario: 'tools-list', checks: ['one', 'two'], reason })
    expect(verdict).toMatchObject({ outcome: 'stale', detail: expect.stringContaining('remove two from') })
  })

  test('fails as expected when exactly its listed checks fail', () => {
    expect(judge(failing('one'), { scenario: 'tools-list', checks: ['one'], reason }).outcome).toBe('expected-fail')
  })

  test('is not counted when it passes without proving anything', () => {
    expect(judge(run(), { scenario: 'tools-list', vacuous: true, reason }).outcome).toBe('vacuous')
  })

  test('fails when it was to pass without proving anything, and does not', () => {
    expect(judge(failing('one'), { scenario: 'tools-list', vacuous: true, reason }).outcome).toBe('fail')
  })
})
