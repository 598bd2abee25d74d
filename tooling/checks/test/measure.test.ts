import { expect, test } from 'vitest'
import { measureRun, measureTrends } from '../src/measure.mjs'
import { tree } from './tree.ts'

test('lines are counted by part, with generated and vendored files apart', () => {
  const root = tree({
    'packages/a/src/a.ts': '/** Text. */\nexport const a = 1\n\n// Text.\n',
    'packages/a/src/a.test.ts': 'one\n',
    'packages/a/api.md': 'one\ntwo\n',
    'tooling/spec/schema.json': '{}\n',
    'docs/a.md': 'one\n',
  })
  expect(measureTrends(root)).toMatchObject({
    'lines: vendored': 1,
    'lines: generated': 2,
    'lines: tests': 1,
    'lines: packages': 4,
    'lines: docs': 1,
    'lines of code in packages': 1,
    'files of at most 20 lines of code': 1,
  })
})

test.each([
  ['of CI', { scope: 'change', seconds: 30, stages: { verify: 10, tests: 20 } }, [30, 10, 20]],
  ['of tests alone', { scope: 'change', seconds: 20, stages: { tests: 20 } }, []],
  ['of the night', { scope: 'night', seconds: 30, stages: { adversary: 10, tests: 20 } }, []],
])('the seconds of a run %s are %j', (_, times, values) => {
  expect(Object.values(measureRun(tree({ '.results/times.json': times })))).toEqual(values)
  expect(measureRun(tree({}))).toEqual({})
})
