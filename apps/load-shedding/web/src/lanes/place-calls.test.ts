import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { CallView } from '../../../src/board/snapshot.ts'
import { type Place, placeCalls, widthOf } from './place-calls.ts'

const call = (name: string, instance: number, size: CallView['size'] = 'light'): CallView => ({
  call: name,
  size,
  instance,
  origin: instance,
  progress: 0,
  moves: 0,
  state: 'open',
})
const laneSize = { columns: 6, rows: 2 }
const cellsOf = (places: ReadonlyMap<string, Place>) =>
  Object.fromEntries(Array.from(places, ([name, { instance, cell }]) => [name, `${instance}/${cell}`]))

test('calls get positions side by side in their lanes, and a heavy call does not wrap', () => {
  const calls = [call('a', 1), call('b', 1, 'heavy'), call('c', 2), call('d', 1, 'heavy'), call('e', 1)]
  expect(cellsOf(placeCalls(new Map(), calls, laneSize))).toEqual({ a: '1/0', b: '1/1', c: '2/0', d: '1/6', e: '1/4' })
})

test('a call keeps its position when others end, and a call in a new lane gets the first free position', () => {
  const before = placeCalls(new Map(), [call('a', 1), call('b', 1), call('c', 1)], laneSize)
  const after = placeCalls(before, [call('b', 1), call('c', 2), call('d', 1), call('e', 1)], laneSize)
  expect(cellsOf(after)).toEqual({ b: '1/1', c: '2/0', d: '1/0', e: '1/2' })
})

test('a call in a full lane has no position', () => {
  const calls = Array.from({ length: 14 }, (_, index) => call(`call-${index}`, 1))
  expect(placeCalls(new Map(), calls, laneSize).size).toBe(12)
})

test('no two calls ever cover the same cell, after any sequence of calls', () => {
  const one = fc.record({
    name: fc.integer({ min: 0, max: 9 }),
    instance: fc.integer({ min: 0, max: 2 }),
    heavy: fc.boolean(),
  })
  const snapshots = fc.array(fc.uniqueArray(one, { selector: ({ name }) => name }), { maxLength: 6 })
  fc.assert(
    fc.property(snapshots, fc.integer({ min: 1, max: 8 }), (all, columns) => {
      let places: ReadonlyMap<string, Place> = new Map()
      for (const snapshot of all) {
        const calls = snapshot.map(({ name, instance, heavy }) =>
          call(String(name), instance, heavy ? 'heavy' : 'light'),
        )
        places = placeCalls(places, calls, { columns, rows: 2 })
        const covered = calls.flatMap((each) => {
          const place = places.get(each.call)
          if (place === undefined) return []
          expect(place.instance).toBe(each.instance)
          return Array.from({ length: widthOf(each) }, (_, offset) => `${place.instance}/${place.cell + offset}`)
        })
        expect(new Set(covered).size).toBe(covered.length)
      }
    }),
  )
})
