import { expect, test } from 'vitest'
import { checkPlatformSources, findPlatformSources } from '../src/platform-sources.mjs'
import { tree } from './tree.ts'

const file = 'packages/a/src/a.ts'
const namesIn = (text: string): string[] => findPlatformSources(tree({ [file]: text })).map(({ name }) => name)

test.each([
  ['the clock', 'const now = Date.now()', 'Date.now'],
  ['the clock as a default', 'const now = options.now ?? Date.now', 'Date.now'],
  ['the clock in a new date', 'const now = new Date()', 'new Date'],
  ['a monotonic clock', 'const now = performance.now()', 'performance.now'],
  ['a timer', 'setTimeout(() => {}, 10)', 'setTimeout'],
  ['an immediate', 'globalThis.setImmediate(run)', 'globalThis.setImmediate'],
  ['a random number', 'const jitter = Math.random()', 'Math.random'],
  ['a random id', 'const id = crypto.randomUUID()', 'crypto.randomUUID'],
  ['random bytes', 'const key = randomBytes(32)', 'randomBytes'],
])('a use of %s is found [SIM-005]', (_, text, name) => {
  expect(namesIn(text)).toEqual([name])
})

test.each([
  ['of a runtime', 'runtime.setTimeout(() => {}, runtime.now())'],
  ['with an argument', 'const date = new Date(0)'],
])('time %s is not found [SIM-005]', (_, text) => {
  expect(namesIn(text)).toEqual([])
})

test('a use without a row, a row without a use, and a row without a reason are problems [SIM-005]', () => {
  const rows = ['file\tname\treason', `${file}\tDate.now\t`, `${file}\tMath.random\tjitter`, '']
  const root = tree({
    [file]: 'const now = Date.now\nconst now2 = performance.now()',
    'packages/a/src/a.test.ts': 'const time = Math.random()',
    'tooling/checks/platform-sources.tsv': rows.join('\n'),
  })
  expect(checkPlatformSources(root)).toEqual([
    expect.stringContaining(`${file} performance.now is used`),
    expect.stringContaining(`lists ${file} Math.random, which does not exist`),
    expect.stringContaining(`the row of ${file} Date.now`),
  ])
})
