import { expect, test } from 'vitest'
import { checkRequirements, countPages, readCitations } from '../src/requirements.mjs'
import { tree } from './tree.ts'

const table =
  'id\tpage\trole\tlevel\tparaphrase\nBAS-001\tbasic/index\tboth\tMUST\tOne\nBAS-002\tbasic/index\tboth\tMUST\tTwo\nTOL-001\tserver/tools\tserver\tMUST\tThree\n'
const withTest = (text: string): string =>
  tree({ 'tooling/spec/requirements.tsv': table, 'packages/a/src/a.test.ts': text })

test.each([
  ['a title', "test('one [BAS-001]', f)", ['BAS-001']],
  ['a title with several', "test('both [BAS-001 TOL-001, BAS-002]', f)", ['BAS-001', 'TOL-001', 'BAS-002']],
  ['a row of a table', "test.each([['one [BAS-002]', 1]])('%s', f)", ['BAS-002']],
  ['a template', 'test(`one ${two} [BAS-002]`, f)', ['BAS-002']],
  ['not a comment', '// [BAS-001]\ntest("one", f)', []],
  ['not a title without brackets', 'test("BAS-001", f)', []],
])('an id is cited by %s', (_, text, ids) => {
  expect([...readCitations(withTest(text)).keys()]).toEqual(ids)
})

test('an id in a template is cited once', () => {
  expect(readCitations(withTest('test(`one ${two} three ${four} [BAS-002]`, f)')).get('BAS-002')).toEqual([
    'packages/a/src/a.test.ts:1',
  ])
})

test('an id that no rule has is reported', () => {
  expect(checkRequirements(withTest("test('one [BAS-404]', f)")).join('\n')).toContain(
    'packages/a/src/a.test.ts:1 cites BAS-404',
  )
})

const withRows = (rows: string, text = "test('all [BAS-001 BAS-002]', f)"): string =>
  tree({ 'tooling/spec/requirements.tsv': `${table}${rows}`, 'packages/a/src/a.test.ts': text })

test('a rule that has neither a test nor a reason is reported', () => {
  expect(checkRequirements(withRows(''))).toEqual([
    expect.stringContaining('no test cites TOL-001 of server/tools: Three'),
  ])
})

test.each([
  ['a reason', 'TOL-002\tserver/tools\tclient\tMUST\tFour\tIt is about people'],
  ['a role that no package has', 'TOL-002\tserver/tools\tas\tMUST\tFour'],
])('a rule may have %s instead of a test, and is counted as excused', (_, row) => {
  const root = withRows(`${row}\n`, "test('all [BAS-001 BAS-002 TOL-001]', f)")
  expect(checkRequirements(root)).toEqual([])
  expect(countPages(root)).toEqual([
    { page: 'basic/index', all: 2, proved: 2, excused: 0 },
    { page: 'server/tools', all: 2, proved: 1, excused: 1 },
  ])
})

test('a reason for a rule that has a test is reported', () => {
  const root = withRows(
    'TOL-002\tserver/tools\tclient\tMUST\tFour\tIt is hard\n',
    "test('all [BAS-001 BAS-002 TOL-001 TOL-002]', f)",
  )
  expect(checkRequirements(root)).toEqual([expect.stringContaining('TOL-002 has a reason')])
})

test('a page of the seeds that names an unknown rule is reported', () => {
  const root = tree({ 'tooling/spec/requirements.tsv': 'id\n', 'docs/seeds/README.md': 'Proved by MRT-404.\n' })
  expect(checkRequirements(root)).toEqual([expect.stringContaining('docs/seeds/README.md names MRT-404')])
})
