import { expect, test } from 'vitest'
import { checkRegularExpressions } from '../src/regular-expressions.mjs'
import { tree } from './tree.ts'

const problemsOf = (literal: string): string[] =>
  checkRegularExpressions(tree({ 'packages/a/src/a.ts': `export const pattern = ${literal}` }))

test.each([
  ['a repetition in a repetition', '/^(?:a+)+$/'],
  ['two neighbours that match the same', '/^\\s*,?\\s*$/'],
  ['a search that begins again at each character', '/\\s+$/'],
  ['a search that begins again at each line', '/^---[\\s\\S]*?^---$/m'],
])('%s is a problem', (_, literal) => {
  expect(problemsOf(literal)).toEqual([expect.stringContaining('can grow faster')])
})

test.each([['/^---[\\s\\S]*?^---$/my'], ['/^[a-z]+$/'], ['/(?<!\\s)\\s+$/']])('%s is none', (literal) => {
  expect(problemsOf(literal)).toEqual([])
})
