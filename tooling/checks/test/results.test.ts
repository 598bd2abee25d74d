import { expect, test } from 'vitest'
import { countLine, listTested, readResults } from '../../run/results.mjs'
import { tree } from './tree.ts'

const written = (...files: object[]): { directory: string } => ({
  directory: tree({ '.results/test.json': { testResults: files } }),
})
const one = (status: string, title = 'one'): object => ({ status, title, ancestorTitles: ['group'] })

test('passed, failed and skipped tests are told apart, with their titles', () => {
  const tests = [
    one('passed'),
    one('failed', 'two'),
    one('pending', 'three'),
    one('skipped', 'four'),
    one('todo', 'five'),
  ]
  const results = readResults(written({ name: 'a.test.ts', status: 'failed', assertionResults: tests }))
  expect(results).toMatchObject({ passed: 1, failed: ['group > two'] })
  expect(results.skipped).toEqual(['group > three', 'group > four', 'group > five'])
  expect(countLine([results, results])).toBe('2 passed, 2 failed, 6 skipped')
})

test('a file that fails before its tests run is a failure', () => {
  const results = readResults(written({ name: 'a.test.ts', status: 'failed', assertionResults: [one('skipped')] }))
  expect(results.failed).toHaveLength(1)
  expect(countLine([results])).toBe('0 passed, 1 failed, 1 skipped')
})

test('a package that wrote no results is a failure', () => {
  expect(countLine([readResults({ directory: tree({}) })])).toBe('0 passed, 1 failed')
})

test('nothing skipped is not mentioned', () => {
  const file = { name: 'a.test.ts', status: 'passed', assertionResults: [one('passed')] }
  expect(countLine([readResults(written(file))])).toBe('1 passed, 0 failed')
})

test('packages with a test script are those that are counted', () => {
  const root = tree({
    'packages/a/package.json': { name: '@x/a', scripts: { test: 'vitest run' } },
    'tooling/b/package.json': { name: '@tooling/b', scripts: { build: 'tsc' } },
    'tooling/c/note.txt': '',
  })
  expect(listTested(root).map(({ name }) => name)).toEqual(['@x/a'])
})
