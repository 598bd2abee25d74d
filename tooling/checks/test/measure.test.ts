import { expect, test } from 'vitest'
import { checkMeasures, measureTree } from '../src/measure.mjs'
import { tree } from './tree.ts'

const values = (files: Readonly<Record<string, string>>): readonly number[] =>
  measureTree(tree(files)).map(({ value }) => value)

test('the share of doc comments that open with a question word is in percent', () => {
  const text = `/** What a call gives. */
const a = 1
/**
 * Whether it is open.
 */
const b = 2
/** Returns the sum. */
const c = 3
/** However long it takes. */
const d = 4
// What a line comment says is not counted.
`
  expect(values({ 'packages/a/src/a.ts': text })).toEqual([50, 0])
})

test('a tree without doc comments has a share of 0', () => {
  expect(values({ 'packages/a/src/a.ts': 'const a = 1' })).toEqual([0, 0])
})

test.each([
  ['declarations', 'function send() {}', 'function send() {}', 1],
  ['constants of a module', 'export const send = () => 1', 'const send = function () {}', 1],
  ['a nested declaration', 'function outer() { function send() {} }', 'function send() {}', 1],
  ['no nested constant', 'function outer() { const send = () => 1 }', 'function send() {}', 0],
  ['no overload without a body', 'function send(a: 1): void', 'function send() {}', 0],
  ['no constant that is not a function', 'const send = 1', 'function send() {}', 0],
  ['no name twice in one file', 'function send() {} { function send() {} }', 'function other() {}', 0],
])('the count of names in several files includes %s', (_, first, second, count) => {
  expect(values({ 'packages/a/src/a.ts': first, 'packages/b/src/b.ts': second })[1]).toBe(count)
})

test.each([
  'src/a.test.ts',
  'src/a.generated.ts',
  'src/a.d.ts',
  'src/testing/a.ts',
  'src/x/contract/a.ts',
  'test/a.ts',
])('the file %s is not measured', (name) => {
  const text = '/** What a call gives. */\nfunction send() {}\n'
  expect(values({ [`packages/a/${name}`]: text, 'packages/b/src/b.ts': 'function send() {}' })).toEqual([0, 0])
})

test('a value at its limit is reported with what to do', () => {
  const names = Array.from({ length: 45 }, (_, index) => `function send${index}() {}`).join('\n')
  const root = tree({ 'packages/a/src/a.ts': names, 'packages/b/src/b.ts': names })
  expect(checkMeasures(root)).toEqual([
    'names of functions defined in more than one file: 45, the limit is below 45\n  name each function for its own object, or define it once',
  ])
})

test('values below the limits are not reported', () => {
  expect(checkMeasures(tree({ 'packages/a/src/a.ts': '/** Returns 1. */\nfunction one() {}' }))).toEqual([])
})
