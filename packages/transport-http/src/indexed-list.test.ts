import fc from 'fast-check'
import { expect, test } from 'vitest'
import { addToList, removeFromList, type IndexedEntry } from './indexed-list.ts'

test('whoever enters and leaves in whatever order, those who stay are there once each', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), (moves) => {
      const roster: IndexedEntry[] = []
      const present = new Map<number, IndexedEntry>()
      for (const move of moves) {
        const known = present.get(move)
        const entry = known ?? { index: -1 }
        if (known === undefined) {
          addToList(roster, entry)
          present.set(move, entry)
        } else {
          removeFromList(roster, entry)
          present.delete(move)
        }
      }
      expect(new Set(roster)).toEqual(new Set(present.values()))
      expect(roster).toHaveLength(present.size)
      expect(roster.map(({ index }) => index)).toEqual(roster.map((_, index) => index))
    }),
  )
})

test('whoever leaves twice takes nobody along', () => {
  const roster: IndexedEntry[] = []
  const [first, second] = [{ index: -1 }, { index: -1 }]
  addToList(roster, first)
  addToList(roster, second)
  removeFromList(roster, first)
  removeFromList(roster, first)
  expect(roster).toEqual([second])
})
