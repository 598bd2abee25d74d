import { describe, expect, test } from 'vitest'
import { evaluateScenario, type ScenarioRun } from './evaluate-scenario.ts'

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
  test('passes if every check is successful, and skipped checks are not counted', () => {
    expect(evaluateScenario(run(), undefined)).toMatchObject({ outcome: 'pass', succeeded: 2, made: 2, skipped: 1 })
  })

  test.each(['FAILURE', 'WARNING', 'SOMETHING_NEW'])('fails if a check has the status %s', (status) => {
    expect(evaluateScenario(run({ checks: [{ id: 'one', status }] }), undefined)).toMatchObject({
      outcome: 'fail',
      detail: `one: ${status}`,
    })
  })

  test('fails if the suite exits with an error, although every check passed', () => {
    expect(evaluateScenario(run({ exitCode: 1 }), undefined)).toMatchObject({ outcome: 'fail' })
  })

  test('fails if it is scored and has no checks', () => {
    expect(evaluateScenario(run({ checks: [] }), undefined)).toMatchObject({ outcome: 'fail' })
  })

  test('is skipped if it is not scored and has no checks', () => {
    expect(
      evaluateScenario(run({ checks: [{ id: 'one', status: 'SKIPPED' }], scored: false }), undefined).outcome,
    ).toBe('skipped')
  })

  test('has the first line of the first failing check as its detail', () => {
    expect(evaluateScenario(failing('one', 'two'), undefined).detail).toBe('one: one broke')
  })
})

describe('a scenario that is listed as an expected failure', () => {
  const reason = 'not written yet'

  test('fails as expected', () => {
    expect(evaluateScenario(failing('one'), { scenario: 'tools-list', reason }).outcome).toBe('expected-fail')
  })

  test('is stale if it passes', () => {
    expect(evaluateScenario(run(), { scenario: 'tools-list', reason }).outcome).toBe('stale')
  })

  test('fails if an unlisted check fails', () => {
    expect(evaluateScenario(failing('one', 'two'), { scenario: 'tools-list', checks: ['one'], reason })).toMatchObject({
      outcome: 'fail',
      detail: 'unlisted check two: two broke',
    })
  })

  test('is stale if one of its listed checks passes', () => {
    const result = evaluateScenario(failing('one'), { scenario: 'tools-list', checks: ['one', 'two'], reason })
    expect(result).toMatchObject({ outcome: 'stale', detail: expect.stringContaining('remove two from') })
  })

  test('fails as expected if exactly its listed checks fail', () => {
    expect(evaluateScenario(failing('one'), { scenario: 'tools-list', checks: ['one'], reason }).outcome).toBe(
      'expected-fail',
    )
  })

  test('is not counted if it is vacuous and passes', () => {
    expect(evaluateScenario(run(), { scenario: 'tools-list', vacuous: true, reason }).outcome).toBe('vacuous')
  })

  test('fails if it is vacuous and fails', () => {
    expect(evaluateScenario(failing('one'), { scenario: 'tools-list', vacuous: true, reason }).outcome).toBe('fail')
  })
})
