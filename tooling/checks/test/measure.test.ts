import { expect, test } from 'vitest'
import { checkMeasures, measureRules, measureTrends } from '../src/measure.mjs'
import { tree } from './tree.ts'

const openings = (files: Readonly<Record<string, string>>): number | undefined => measureRules(tree(files))[0]?.value

const sharedNames = (files: Readonly<Record<string, string>>): number | undefined =>
  measureTrends(tree(files)).at(-1)?.value

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
  expect(openings({ 'packages/a/src/a.ts': text })).toBe(50)
})

test('a tree without doc comments has a share of 0', () => {
  expect(openings({ 'packages/a/src/a.ts': 'const a = 1' })).toBe(0)
})

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
  const text = '/** What a call gives. */\nfunction send() {}\n'
  const files = { [`packages/a/${name}`]: text, 'packages/b/src/b.ts': 'function send() {}' }
  expect([openings(files), sharedNames(files)]).toEqual([0, 0])
})

test('sums over the repository are not reported', () => {
  const names = Array.from({ length: 100 }, (_, index) => `function send${index}() {}`).join('\n')
  expect(checkMeasures(tree({ 'packages/a/src/a.ts': names, 'packages/b/src/b.ts': names }))).toEqual([])
})

test('a share above its limit is reported with the remedy', () => {
  expect(checkMeasures(tree({ 'packages/a/src/a.ts': '/** What a call gives. */\nfunction one() {}' }))).toEqual([
    'doc comments that open with a question word, in percent: 100, at most 2\n  start with a verb in the third person ("Returns…") or with the noun',
  ])
})

test('words above their limit are reported with the remedy and the command that lists them', () => {
  const text = '/** Returns the call that nobody wants. */\nfunction one() {}'
  expect(checkMeasures(tree({ 'packages/a/src/a.ts': text }))).toEqual([
    'whoever, nobody, somebody, whatever: 1666.7 in 10,000 words, at most 4\n  name the thing: "a client that …", "no instance …", "the value"; pnpm measure --list packages/NAME prints the places',
  ])
})
