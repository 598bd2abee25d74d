import { describe, expect, test } from 'vitest'
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

test('a rule without a test is counted but not reported, on a page that is not complete', () => {
  const root = withTest("test('two [BAS-001 BAS-002]', f)")
  expect(checkRequirements(root)).toEqual([])
  expect(countPages(root)).toEqual([
    { page: 'basic/index', all: 2, proved: 2, excused: 0 },
    { page: 'server/tools', all: 1, proved: 0, excused: 0 },
  ])
})

describe('a rule of a complete page', () => {
  const withReasons = (reasons: string, text = "test('one [BAS-001]', f)"): string =>
    tree({
      'tooling/spec/requirements.tsv': table,
      'tooling/checks/untestable.tsv': `id\treason\n${reasons}\n`,
      'packages/a/src/a.test.ts': text,
    })

  test('that has neither a test nor a reason is reported', () => {
    expect(checkRequirements(withTest("test('one [BAS-001]', f)"))).toEqual([
      expect.stringContaining('no test cites BAS-002 of basic/index: Two'),
    ])
  })

  test('may have a reason instead of a test, and is counted as excused', () => {
    const root = withReasons('BAS-002\tIt is about people')
    expect(checkRequirements(root)).toEqual([])
    expect(countPages(root)[0]).toEqual({ page: 'basic/index', all: 2, proved: 1, excused: 1 })
  })

  test.each(['intermediary', 'as'])('of the role %s is not required', (role) => {
    const rows = `${table}SHT-076\tbasic/transports/streamable-http\t${role}\tMUST\tFour\n`
    const text = "test('two [BAS-001 BAS-002]', f)"
    const root = tree({ 'tooling/spec/requirements.tsv': rows, 'packages/a/src/a.test.ts': text })
    expect(checkRequirements(root)).toEqual([])
  })

  test.each([
    ['for a rule that has a test', 'BAS-001\tIt is hard', 'lists BAS-001, which packages/a/src/a.test.ts:1 cites'],
    ['for a rule that does not exist', 'BAS-404\tIt was removed', 'lists BAS-404'],
    ['that is empty', 'TOL-001\t', 'lists TOL-001 without a reason'],
  ])('a reason %s is reported', (_, line, message) => {
    expect(checkRequirements(withReasons(`${line}\nBAS-002\tPeople`)).join('\n')).toContain(message)
  })
})
