import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { limitTableProblems } from '../src/limit-tables.mjs'
import { tree } from './tree.ts'

const page = 'before\n<!-- limits -->\n<!-- /limits -->\nafter\n'

function treeOf(source: string, more: Readonly<Record<string, string>> = {}): string {
  return tree({ 'packages/a/src/options.ts': source, 'docs/limits.md': page, ...more })
}

/** Writes the table, and returns its rows. */
function rowsOf(source: string, more?: Readonly<Record<string, string>>): readonly string[] {
  const root = treeOf(source, more)
  expect(limitTableProblems(root, true)).toEqual([])
  const lines = readFileSync(join(root, 'docs/limits.md'), 'utf8').split('\n')
  expect([lines[0], lines.at(-2)]).toEqual(['before', 'after'])
  return lines.filter((line) => line.startsWith('| `'))
}

test.each([
  ['a default', '  maxDoors: 10_000,', '10,000'],
  ['a default with bounds', '  maxDoors: { default: 5, max: 9 },', '5'],
  ['a product', '  maxDoors: 2 * 16 * 3,', '96'],
  ['a constant', '  maxDoors: most,', '1,000'],
  ['a member of a constant of another file', '  maxDoors: { default: houses.large.doors },', '70'],
  ['infinity', '  maxDoors: { default: Number.POSITIVE_INFINITY },', 'none'],
])('an option has %s', (_title, row, expected) => {
  const source = `const most = 1000\n\nconst table = {\n  // limit: count | doors | closed\n${row}\n} satisfies OptionTable<A>\n`
  const other = 'export const houses = {\n  small: { doors: 1 },\n  large: { doors: 70 },\n}\n'
  expect(rowsOf(source, { 'packages/b/src/houses.ts': other })).toEqual([
    `| \`a\` | \`maxDoors\` | ${expected} | doors | closed |`,
  ])
})

test('numbers are formatted in their units, and constants are fixed', () => {
  const of = (label: string, unit: string, value: string): string =>
    `// limit: ${label} | ${unit} | doors,\n//   and windows | closed\nconst value = ${value}\n`
  const source = [
    of('`bytes` of `a`', 'bytes', '4 * 1024 * 1024'),
    of('odd', 'bytes', '4000'),
    of('time', 'ms', '300_000'),
    of('share', 'share', '1 / 4'),
    of('text', 'characters', '1024'),
    of('long', 'characters', '1_048_576'),
  ].join('\n')
  expect(rowsOf(source).map((line) => line.split(' | ').slice(1, 4))).toEqual([
    ['`bytes` of `a`', '4 MiB', 'doors, and windows'],
    ['odd', '4,000 bytes, fixed', 'doors, and windows'],
    ['time', '5 min, fixed', 'doors, and windows'],
    ['share', '25 %, fixed', 'doors, and windows'],
    ['text', '1,024 characters, fixed', 'doors, and windows'],
    ['long', '1.05 million characters, fixed', 'doors, and windows'],
  ])
})

test('a table that differs from the source is reported', () => {
  const root = treeOf('// limit: count | doors | closed\nconst maxDoors = 1\n')
  expect(limitTableProblems(root, false).join()).toContain('run pnpm docs:write')
  expect(limitTableProblems(root, true)).toEqual([])
  expect(limitTableProblems(root, false)).toEqual([])
})

test.each([
  ['without a consequence', '// limit: count | doors\nconst maxDoors = 1\n'],
  ['in an unknown unit', '// limit: miles | doors | closed\nconst maxDoors = 1\n'],
  ['whose value cannot be read', '// limit: count | doors | closed\nconst maxDoors = most()\n'],
])('a limit %s is reported', (_title, source) => {
  expect(limitTableProblems(treeOf(source), false).join()).toContain('packages/a/src/options.ts has a limit without')
})

test('the table of the ledger has the bounds with their comments', () => {
  const ledger = [
    'const unbounded = Number.POSITIVE_INFINITY',
    '',
    'export const ledgerBounds = {',
    '  /** Calls that run,',
    '   * all of them. */',
    '  calls: { perCaller: 10 * 100, total: unbounded },',
    '} as const satisfies object',
  ].join('\n')
  const root = treeOf('', {
    'packages/core/src/ledger.ts': ledger,
    'docs/limits.md': `${page}<!-- ledger -->\n<!-- /ledger -->\n`,
  })
  expect(limitTableProblems(root, true)).toEqual([])
  expect(readFileSync(join(root, 'docs/limits.md'), 'utf8')).toContain(
    '| `calls` | 1,000 | none | Calls that run, all of them. |',
  )
})
