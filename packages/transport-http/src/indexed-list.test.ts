import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addToList, removeFromList, type IndexedEntry } from './indexed-list.ts'

test('after any order of additions and removals the list has each remaining entry once', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), (moves) => {
      const entries: IndexedEntry[] = []
      const present = new Map<number, IndexedEntry>()
      for (const move of moves) {
        const known = present.get(move)
        const entry = known ?? { index: -1 }
        if (known === undefined) {
          addToList(entries, entry)
          present.set(move, entry)
        } else {
          removeFromList(entries, entry)
          present.delete(move)
        }
      }
      expect(new Set(entries)).toEqual(new Set(present.values()))
      expect(entries).toHaveLength(present.size)
      expect(entries.map(({ index }) => index)).toEqual(entries.map((_, index) => index))
    }),
  )
})

test('removing an entry twice removes no other', () => {
  const entries: IndexedEntry[] = []
  const [first, second] = [{ index: -1 }, { index: -1 }]
  addToList(entries, first)
  addToList(entries, second)
  removeFromList(entries, first)
  removeFromList(entries, first)
  expect(entries).toEqual([second])
})
