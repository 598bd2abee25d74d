import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { measureTimes, timeLines } from '../../run/times.mjs'
import { tree } from './tree.ts'

const result = (name: string, seconds: number, files: readonly number[]) => ({
  name: `@x/${name}`,
  folder: `packages/${name}`,
  passed: 2,
  failed: ['one'],
  skipped: [],
  coverage: '',
  seconds,
  files: files.map((each, index) => ({ file: `src/${index}.test.ts`, seconds: each })),
})

test('the stages of CI, the packages and the slowest files of all packages are measured', () => {
  vi.stubEnv('CI_STAGES', join(tree({ stages: '10\tinstall\n150\tverify\n' }), 'stages'))
  const results = [
    result('a', 3, [1, 2]),
    result(
      'b',
      40.04,
      Array.from({ length: 30 }, (_, index) => 10 + index),
    ),
  ]
  const times = measureTimes(results, { scope: 'change', seconds: 99.6 })
  expect(times).toMatchObject({
    scope: 'change',
    seconds: 260,
    stages: { install: 10, verify: 150, tests: 100 },
    packages: { '@x/b': 40, '@x/a': 3 },
    passed: 4,
    failed: 2,
  })
  expect(Object.keys(times.slowest)).toHaveLength(20)
  expect(Object.entries(times.slowest)[0]).toEqual(['packages/b/src/29.test.ts', 39])
  expect(timeLines(times)).toEqual(expect.arrayContaining(['   150  verify', '   260  in total']))
  vi.unstubAllEnvs()
})

test('a run outside of CI has one stage, which is not printed', () => {
  vi.stubEnv('CI_STAGES', undefined)
  const times = measureTimes([result('a', 3, [1])], { scope: 'newcomer', seconds: 5 })
  expect(timeLines(times)).toEqual(['seconds of the slowest test files:', '     1  packages/a/src/0.test.ts'])
  vi.unstubAllEnvs()
})
