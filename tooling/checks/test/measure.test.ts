import { expect, test } from 'vitest'
import { measureRun, measureTrends } from '../src/measure.mjs'
import { tree } from './tree.ts'

const sharedNames = (files: Readonly<Record<string, string>>): number | undefined =>
  measureTrends(tree(files)).at(-1)?.value

test.each([
  ['declarations', 'function send() {}', 'function send() {}', 1],
  ['constants of a module', 'export const send = () => 1', 'const send = function () {}', 1],
  ['a nested declaration', 'function outer() { function send() {} }', 'function send() {}', 1],
  ['not a nested constant', 'function outer() { const send = () => 1 }', 'function send() {}', 0],
  ['not an overload without a body', 'function send(a: 1): void', 'function send() {}', 0],
  ['not a constant that is not a function', 'const send = 1', 'function send() {}', 0],
  ['not a name twice in one file', 'function send() {} { function send() {} }', 'function other() {}', 0],
])('the count of names in several files includes %s', (_, first, second, count) => {
  expect(sharedNames({ 'packages/a/src/a.ts': first, 'packages/b/src/b.ts': second })).toBe(count)
})

test.each([
  'src/a.test.ts',
  'src/a.generated.ts',
  'src/a.d.ts',
  'src/testing/a.ts',
  'src/x/contract/a.ts',
  'test/a.ts',
])('the file %s is not measured', (name) => {
  const files = { [`packages/a/${name}`]: 'function send() {}', 'packages/b/src/b.ts': 'function send() {}' }
  expect(sharedNames(files)).toBe(0)
})

test.each([
  ['of CI', { scope: 'change', seconds: 30, stages: { verify: 10, tests: 20 } }, [30, 10, 20]],
  ['of tests alone', { scope: 'change', seconds: 20, stages: { tests: 20 } }, []],
  ['of the night', { scope: 'night', seconds: 30, stages: { adversary: 10, tests: 20 } }, []],
])('the seconds of a run %s are %j', (_, times, values) => {
  expect(measureRun(tree({ '.results/times.json': times })).map(({ value }) => value)).toEqual(values)
  expect(measureRun(tree({}))).toEqual([])
})
