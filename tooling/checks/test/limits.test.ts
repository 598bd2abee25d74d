import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import type { Limit } from '../src/limit-rows.mjs'
import { checkLimits } from '../src/limits.mjs'
import { tree } from './tree.ts'

const row = (option: string, more: Partial<Limit> = {}): Limit => ({
  package: 'a',
  option,
  unit: 'count',
  bounds: 'doors',
  beyond: 'closed',
  ...more,
})
const page = 'before\n<!-- limits -->\n<!-- /limits -->\nafter\n'

/** Creates a tree with one source file and a page, and writes the table. */
function written(source: string, rows: readonly Limit[]): { readonly root: string; readonly lines: string[] } {
  const root = tree({ 'packages/a/src/options.ts': source, 'docs/limits.md': page })
  expect(checkLimits(root, ['--write'], rows)).toEqual([])
  const lines = readFileSync(join(root, 'docs/limits.md'), 'utf8').split('\n')
  expect([lines[0], lines.at(-2)]).toEqual(['before', 'after'])
  return { root, lines: lines.filter((line) => line.startsWith('| `')) }
}

test.each([
  ['a member of an object', 'const defaults = { maxDoors: 10_000 }', '10,000'],
  ['a default in a pattern', 'function open({ maxDoors = 5 }) {}', '5'],
  ['a default of a renamed member', 'function open({ maxDoors: doors = 5 }) {}', '5'],
  ['a default of a parameter', 'function open(maxDoors = most) {}\nconst most = 1000', '1,000'],
  ['the fallback of an option', 'const doors = options.maxDoors ?? 16', '16'],
  ['the last argument of a check', "const doors = check('maxDoors', options.maxDoors, most)\nconst most = 7", '7'],
  ['an option within a check that has an upper bound', "check('maxDoors', options.maxDoors ?? 50, 9999)", '50'],
  [
    'a share of another default',
    'const d = { all: 95 }\nfunction f({ all = d.all, maxDoors = Math.ceil(all / 10) }) {}',
    '10',
  ],
  ['infinity', 'const maxDoors = Number.POSITIVE_INFINITY', 'none'],
])('a default is read from %s', (_title, source, expected) => {
  expect(written(source, [row('maxDoors')]).lines).toEqual([`| \`a\` | \`maxDoors\` | ${expected} | doors | closed |`])
})

test('numbers are formatted in their units', () => {
  const source =
    'const d = { bytes: 4 * 1024 * 1024, odd: 4000, ms: 300_000, share: 1 / 4, fix: 2, text: 1024, long: 1_048_576 }'
  const rows = [
    row('bytes', { unit: 'bytes' }),
    row('client: odd', { unit: 'bytes' }),
    row('ms', { unit: 'ms' }),
    row('share', { unit: 'share' }),
    row('a fixed one', { name: 'd.fix', isFixed: true }),
    row('text', { unit: 'characters' }),
    row('long', { unit: 'characters' }),
  ]
  const cells = written(source, rows).lines.map((line) => line.split(' | ').slice(1, 3))
  expect(cells).toEqual([
    ['`bytes`', '4 MiB'],
    ['`odd` of the client', '4,000 bytes'],
    ['`ms`', '5 min'],
    ['`share`', '25 %'],
    ['a fixed one', '2, fixed'],
    ['`text`', '1,024 characters'],
    ['`long`', '1.05 million characters'],
  ])
})

test('the rows are read from the list', () => {
  const list = [
    'package\toption\tunit\tbounds\tbeyond\tkind\tname\tfile',
    'a\tmaxDoors\tcount\tdoors\tclosed\toption',
    'a\tdoor width\tbytes\ta door\tclosed\tfixed\twidth\toptions',
  ]
  const root = tree({
    'packages/a/src/options.ts': 'const d = { maxDoors: 2, width: 1024 }',
    'docs/limits.md': page,
    'tooling/checks/limits.tsv': list.join('\n'),
  })
  expect(checkLimits(root, ['--write'])).toEqual([])
  const text = readFileSync(join(root, 'docs/limits.md'), 'utf8')
  expect(text).toContain(
    '| `a` | `maxDoors` | 2 | doors | closed |\n| `a` | door width | 1 KiB, fixed | a door | closed |',
  )
})

test('a table that differs from the source is reported', () => {
  const { root } = written('const d = { maxDoors: 1 }', [row('maxDoors')])
  expect(checkLimits(root, [], [row('maxDoors')])).toEqual([])
  expect(checkLimits(root, [], [row('maxDoors', { bounds: 'windows' })]).join()).toContain('run pnpm docs:write')
})

test('two defaults of one name are reported', () => {
  const source = 'const a = { maxDoors: 1 }\nconst b = { maxDoors: 2 }'
  const root = tree({ 'packages/a/src/options.ts': source, 'docs/limits.md': page })
  expect(checkLimits(root, [], [row('maxDoors')]).join()).toContain('the defaults 1 and 2 of maxDoors')
})

test('a page without the comments of the table is reported', () => {
  const root = tree({ 'packages/a/src/options.ts': 'const d = { maxDoors: 1 }', 'docs/limits.md': '# Security\n' })
  expect(checkLimits(root, ['--write'], [row('maxDoors')]).join()).toContain('has no table of limits')
})

test('the table of the ledger has the bounds with their comments', () => {
  const ledger = [
    'const unbounded = Number.POSITIVE_INFINITY',
    'const table = {',
    '  /** Calls that run,',
    '   * all of them. */',
    '  calls: { perCaller: 10 * 100, total: unbounded },',
    '} as const satisfies object',
  ].join('\n')
  const root = tree({
    'packages/core/src/ledger.ts': ledger.replace('table', 'ledgerBounds'),
    'docs/limits.md': `${page}<!-- ledger -->\n<!-- /ledger -->\n`,
  })
  expect(checkLimits(root, [], []).join()).toContain('the ledger in docs/limits.md differ from the source')
  expect(checkLimits(root, ['--write'], [])).toEqual([])
  expect(readFileSync(join(root, 'docs/limits.md'), 'utf8')).toContain(
    '| `calls` | 1,000 | none | Calls that run, all of them. |',
  )
})
