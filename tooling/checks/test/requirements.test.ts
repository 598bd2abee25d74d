import { expect, test } from 'vitest'
import { checkRequirements, countPages, readCitations } from '../src/requirements.mjs'
import { tree } from './tree.ts'

const table =
  'id\tpage\trole\tlevel\tparaphrase\nBAS-001\tbasic/index\tboth\tMUST\tOne\nBAS-002\tbasic/index\tboth\tMUST\tTwo\nTOL-001\tserver/tools\tserver\tMUST\tThree\n'
const withTest = (text: string): string =>
  tree({ 'tooling/spec/requirements.tsv': table, 'packages/a/src/a.test.ts': text })

test.each([
  ['a title', "test('one [BAS-001]', f)", ['BAS-001']],
  ['a title with several', "test('both [BAS-001 TOL-001]', f)", ['BAS-001', 'TOL-001']],
  ['a title with a comma', "test('both [BAS-001, TOL-001]', f)", ['BAS-001', 'TOL-001']],
  ['a row of a table', "test.each([['one [BAS-002]', 1]])('%s', f)", ['BAS-002']],
  ['a template', 'test(`one ${two} [BAS-002]`, f)', ['BAS-002']],
  ['a plain template', 'test(`one [BAS-002]`, f)', ['BAS-002']],
  ['no comment', '// [BAS-001]\ntest("one", f)', []],
  ['no brackets', 'test("BAS-001", f)', []],
])('an id is cited by %s', (_, text, ids) => {
  expect([...readCitations(withTest(text)).keys()]).toEqual(ids)
})

test('an id is cited once by the line that holds it', () => {
  expect(readCitations(withTest('test(`one ${two} three ${four} [BAS-002]`, f)')).get('BAS-002')).toEqual([
    'packages/a/src/a.test.ts:1',
  ])
})

test('an id that no rule has is refused', () => {
  expect(checkRequirements(withTest("test('one [BAS-404]', f)")).join('\n')).toContain(
    'packages/a/src/a.test.ts:1 cites BAS-404',
  )
})

test('a rule without a test is counted and not refused', () => {
  const root = withTest("test('one [BAS-001]', f)")
  expect(checkRequirements(root)).toEqual([])
  expect(countPages(root)).toEqual([
    { page: 'basic/index', all: 2, proved: 1 },
    { page: 'server/tools', all: 1, proved: 0 },
  ])
})
