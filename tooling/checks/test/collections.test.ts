import { expect, test } from 'vitest'
import { checkCollections, findCollections } from '../src/collections.mjs'
import { tree } from './tree.ts'

const file = 'packages/a/src/a.ts'
const namesIn = (text: string): string[] =>
  findCollections(tree({ [file]: text })).map((key) => key.slice(file.length + 1))

test.each([
  ['at the top of a module', 'const entries = new Map<string, number>()', ['entries']],
  ['of a class', 'class A { readonly #seen = new Set<string>() }', ['#seen']],
  ['in an object', 'const make = () => ({ byId: new Map() })', ['byId']],
  ['behind a fallback', 'function f() { const q = known.get(1) ?? new Set(); known.set(1, q) }', ['q']],
  ['assigned to a member', 'function f(state) { state.byId ??= new Map() }', ['byId']],
  ['in a closure', 'function f() { const seen = new Set(); return { add: (x) => seen.add(x) } }', ['seen']],
  [
    'in a nested declaration',
    'function f() { const seen = new Set(); function add() { seen.add(1) } return add }',
    ['seen'],
  ],
])('a collection %s outlives a call', (_, text, names) => {
  expect(namesIn(text)).toEqual(names)
})

test.each([
  ['that only its function uses', 'function f() { const seen = new Set(); seen.add(1); return seen.size }'],
  ['that a callback of its function uses', 'function f(xs) { const seen = new Set(); xs.forEach((x) => seen.add(x)) }'],
  ['with initial contents', "const names = new Set(['a', 'b'])"],
  ['of another type', 'const registry = new WeakMap()'],
])('a collection %s does not outlive a call', (_, text) => {
  expect(namesIn(text)).toEqual([])
})

test('a collection without a row, a row without a collection, and a row without a reason are problems', () => {
  const rows = [
    'file\tnames\tbound\treason',
    'packages/a/src/a.ts\tgone\tledger\tcounted',
    `${file}\tlisted\tsome\tno`,
    '',
  ]
  const root = tree({
    [file]: 'const listed = new Map()\nconst fresh = new Map()',
    'tooling/checks/collections.tsv': rows.join('\n'),
  })
  expect(checkCollections(root)).toEqual([
    expect.stringContaining(`${file} fresh is a Map or a Set that outlives a call`),
    expect.stringContaining(`lists packages/a/src/a.ts gone, which needs no row`),
    expect.stringContaining(`the row of ${file} listed`),
  ])
})

test.each([
  ['compares its size with a limit', 'const a = new Map()\nif (a.size >= maxEntries) throw new Error()'],
  ['compares a limit with its size', 'class A { #a = new Set(); full() { return this.limit < this.#a.size } }'],
  ['uses the ledger', 'const a = new Map()\nledger.take(1)'],
])('a collection whose file %s needs no row', (_, text) => {
  expect(namesIn(text)).toEqual([])
})

test('a size that is compared with zero bounds nothing', () => {
  expect(namesIn('const a = new Map()\nif (a.size > 0) run()')).toEqual(['a'])
})

test('tests are excluded', () => {
  expect(findCollections(tree({ 'packages/a/src/a.test.ts': 'const seen = new Set()' }))).toEqual([])
})
