import { expect, test } from 'vitest'
import { checkSeeds } from '../src/seeds.mjs'
import { tree } from './tree.ts'

const head = '| statement | where | proof |\n| --- | --- | --- |\n'
const proved = new Set(['MRT-001'])
const problemsOf = (row: string): string =>
  checkSeeds(
    tree({
      'docs/seeds.md': `# Seeds\n\n${head}${row}\n`,
      'docs/decisions/1.md': '',
      'packages/a/src/a.test.ts': '',
    }),
    proved,
  ).join('\n')

test.each([
  ['a rule that a test cites', '| a | b | MRT-001 |'],
  ['a test file', '| a | b | `packages/a/src/a.test.ts` |'],
  ['a decision', '| a | b | [decision](decisions/1.md) |'],
  ['several of them', '| a | b | MRT-001, `packages/a/src/a.test.ts`, [decision](decisions/1.md) |'],
])('a statement is proved by %s', (_, row) => {
  expect(problemsOf(row)).toBe('')
})

test.each([
  ['without a proof', '| MRT-001 | `packages/a/src/a.test.ts` | it works |', 'docs/seeds.md:5 has no proof'],
  ['with a rule that no test cites', '| a | b | MRT-001, MRT-002 |', 'docs/seeds.md:5 names MRT-002'],
  ['with a missing test file', '| a | b | `packages/a/src/b.test.ts` |', 'names packages/a/src/b.test.ts'],
  ['with a missing decision', '| a | b | [decision](decisions/2.md) |', 'names docs/decisions/2.md'],
])('a statement %s is reported', (_, row, text) => {
  expect(problemsOf(row)).toContain(text)
})

test('a repository without the page passes', () => {
  expect(checkSeeds(tree({ 'a.txt': '' }), proved)).toEqual([])
})
