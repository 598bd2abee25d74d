import { describe, expect, test } from 'vitest'
import {
  unionByMember,
  checkOf,
  integer,
  jsonObject,
  list,
  map,
  number,
  looseShape,
  optional,
  type Shape,
  shape,
  string,
  union,
  literal,
} from './shape.ts'
import { zodOf } from './zod-of.ts'

type Point = { readonly kind: 'point'; readonly label: string; readonly weight?: number | undefined }
type Path = { readonly kind: 'path'; readonly points: readonly Point[] }

const point = shape<Point>({ kind: literal('point'), label: string, weight: optional(number) })
const path = shape<Path>({ kind: literal('path'), points: list(point) })

test('a description that differs from its type is a compile error', () => {
  // @ts-expect-error a member is missing
  shape<Point>({ kind: literal('point'), label: string })
  // @ts-expect-error a member is surplus
  shape<Point>({ kind: literal('point'), label: string, weight: optional(number), more: string })
  // @ts-expect-error a member is of another type
  shape<Point>({ kind: literal('point'), label: integer, weight: optional(number) })
  // @ts-expect-error a required member is optional
  shape<Point>({ kind: literal('point'), label: optional(string), weight: optional(number) })
  // @ts-expect-error an optional member is required
  shape<Point>({ kind: literal('point'), label: string, weight: number })
  // @ts-expect-error a word is too many
  shape<Point>({ kind: literal('point', 'path'), label: string, weight: optional(number) })
  // @ts-expect-error a kind has no row
  unionByMember<Point | Path, 'kind'>('kind', { point })
  // @ts-expect-error rows are swapped
  unionByMember<Point | Path, 'kind'>('kind', { point: path, path: point })
  // @ts-expect-error a member of the union is missing
  const incomplete: Shape<Point | Path> = union([point])
  // @ts-expect-error a named member of an open type is missing
  looseShape<{ readonly [key: string]: string | undefined; readonly label: string }>({})
  expect(checkOf(incomplete)({ kind: 'path', points: [] })).toBeDefined()
})

describe('a failure of', () => {
  const figure = unionByMember<Point | Path, 'kind'>('kind', { point, path })
  test.each<[string, Shape<never>['createCheck'], unknown, object]>([
    [
      'a member in a list',
      figure.createCheck,
      { kind: 'path', points: [{ kind: 'point' }] },
      at('.points[0].label', 'a string', 'nothing'),
    ],
    ['an unknown kind', figure.createCheck, { kind: 'area' }, at('.kind', 'one of "point", "path"', 'a string')],
    [
      'a union that a value resembles',
      union([string, list(string)]).createCheck,
      ['a', 1],
      at('[1]', 'a string', 'a number'),
    ],
    [
      'a union that a value does not resemble',
      union([string, list(string)]).createCheck,
      1,
      at('', 'a string', 'a number'),
    ],
    ['a map', map(integer).createCheck, { 'a b': 0.5 }, at('["a b"]', 'an integer', 'a number')],
  ])('%s has its path', (_, createCheck, value, failure) => {
    expect(createCheck('deep')(value)).toEqual(failure)
  })
})

function at(place: string, expected: string, got: string): object {
  return { path: place, expected, got }
}

test('a shallow check leaves JSON alone, a deep one and zod do not', () => {
  const settings = looseShape<{ readonly [key: string]: unknown; readonly a: object }>({ a: jsonObject })
  for (const value of [{ a: { b: () => 0 } }, { a: {}, other: () => 0 }]) {
    expect(checkOf(settings, 'shallow')(value)).toBeUndefined()
    expect(checkOf(settings)(value)?.expected).toBe('what JSON can carry')
    expect(zodOf(settings).safeParse(value).success).toBe(false)
  }
  expect(checkOf(settings, 'shallow')({ a: [] })).toEqual(at('.a', 'an object', 'an array'))
})

test('a shape gives the same validator each time', () => {
  expect(zodOf(point)).toBe(zodOf(point))
})
