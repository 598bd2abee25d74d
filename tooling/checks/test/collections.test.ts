import { expect, test } from 'vitest'
import { checkCollections } from '../src/collections.mjs'
import { tree } from './tree.ts'

const file = 'packages/a/src/a.ts'
const namesIn = (text: string, path = file): string[] =>
  checkCollections(tree({ [path]: text })).flatMap(
    (problem) => problem.slice(path.length + 1).split(' is a Map')[0] ?? [],
  )

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

test.each([
  ['a comment', '// Bounded by the rows.\nconst a = new Map()', []],
  [
    'a comment of a member',
    'class A {\n  /** Bounded by\n   * rows. */\n  #a = new Map()\n  #b = new Map()\n}',
    ['#b'],
  ],
  ['a comment of an object', '// Always empty.\nconst none = { a: new Map(), b: new Set() }', []],
  ['not a comment of another', '// Bounded by the rows.\nconst a = new Map()\nconst b = new Map()', ['b']],
  ['a type', 'let a: ReadonlyMap<string, number> = new Map()', []],
  ['a comparison of its size', 'const a = new Map()\nif (a.size >= maxEntries) throw new Error()', []],
  ['a comparison of a limit', 'class A { #a = new Set(); full() { return this.limit < this.#a.size } }', []],
  ['not a comparison with zero', 'const a = new Map()\nif (a.size > 0) run()', ['a']],
  ['the ledger', 'const a = new Map()\nledger.take(1)', []],
])('a collection is bounded by %s', (_, text, names) => {
  expect(namesIn(text)).toEqual(names)
})

test('tests are excluded', () => {
  expect(namesIn('const seen = new Set()', 'packages/a/src/a.test.ts')).toEqual([])
})
