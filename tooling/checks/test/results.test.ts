import { expect, test } from 'vitest'
import { countLine, listTested, listLeftOut, readResults } from '../../run/results.mjs'
import { tree } from './tree.ts'

const written = (...files: object[]): { directory: string; script: string } => ({
  directory: tree({ '.results/test.json': { testResults: files } }),
  script: 'test',
})
const one = (status: string, title = 'one'): object => ({ status, title, ancestorTitles: ['group'] })

test('passed, failed and skipped tests are counted separately, with their titles', () => {
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

test.each([
  [
    '.turbo/turbo-test.log',
    `401 for ${['eyJhbGciOiJFUzI1NiJ9', 'eyJzdWIiOiJhZGEifQ', 'c2lnbmF0dXJlLW9mLWl0'].join('.')}`,
  ],
  ['.results/trace/one.txt', 'canary-refresh-01234567-89ab-4cde-8f01-23456789abcd'],
  ['.results/opaque.txt', 'Bearer canary-AccessToken-01234567-89ab-4cde-8f01-23456789abcd'],
])('a credential in %s is a failure', (path, text) => {
  const file = { name: 'a.test.ts', status: 'passed', assertionResults: [one('passed')] }
  const directory = tree({ '.results/test.json': { testResults: [file] }, [path]: text })
  expect(readResults({ directory, script: 'test' }).failed).toEqual([`${path} contains a token or another credential`])
})

test('a package without results is a failure', () => {
  expect(countLine([readResults({ directory: tree({}), script: 'test' })])).toBe('0 passed, 1 failed')
})

test('packages with a test script are listed, and tests that run alone have separate results', () => {
  const manifest = { name: '@x/a', scripts: { test: 'vitest run', 'test-alone': 'vitest run chaos' } }
  const file = { name: 'a.test.ts', status: 'passed', assertionResults: [one('passed')] }
  const root = tree({
    'packages/a/package.json': manifest,
    'packages/a/.results/test.json': { testResults: [file] },
    'packages/b/package.json': { name: '@x/b', scripts: { test: 'vitest run' } },
    'tooling/c/package.json': { name: '@tooling/c', scripts: { build: 'tsc' } },
    'tooling/d/note.txt': '',
  })
  expect(listTested(root).map(({ name }) => name)).toEqual(['@x/a', '@x/b'])
  expect(listTested(root, 'test-alone').map(({ name }) => name)).toEqual(['@x/a'])
  expect(countLine(listTested(root, 'test-alone').map(readResults))).toBe('0 passed, 1 failed')
})

test('the time of a package is from its start to the end of its last file', () => {
  const files = [3000, 61_500, 9000].map((endTime) => ({ name: 'a.test.ts', endTime, assertionResults: [] }))
  const directory = tree({ '.results/test.json': { startTime: 1000, testResults: files } })
  expect(readResults({ directory, script: 'test' }).seconds).toBe(60.5)
})

test.each([
  ['newcomer', ['b.ci.test.ts', 'd.night.test.ts', 'deep/c-chaos.test.ts', 'e.night.alone.test.ts']],
  ['change', ['d.night.test.ts', 'e.night.alone.test.ts']],
  ['night', []],
  ['package', []],
])('a run for a %s leaves out %j', (scope, files) => {
  const names = ['a', 'b.ci', 'deep/c-chaos', 'd.night', 'e.night.alone', 'f.alone']
  const directory = tree({
    ...Object.fromEntries(names.map((name) => [`src/${name}.test.ts`, ''])),
    'lib/g.ci.test.ts': '',
  })
  expect(listLeftOut(directory, scope)).toEqual(files)
})
