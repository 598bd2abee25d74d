import fc from 'fast-check'
import { expect, test } from 'vitest'
import { diffLines } from './line-diff.ts'

const texts = fc.array(fc.constantFrom('a', 'b', 'c'), { maxLength: 30 }).map((lines) => lines.join('\n'))

test('the lines of a difference are those of the texts, in their order', () => {
  fc.assert(
    fc.property(texts, texts, (before, after) => {
      const lines = diffLines(before, after)
      const removed = lines.filter((line) => line.startsWith('-')).map((line) => line.slice(1))
      const added = lines.filter((line) => line.startsWith('+')).map((line) => line.slice(1))
      expect(before.split('\n').length - removed.length).toBe(after.split('\n').length - added.length)
      expect(isWithin(removed, before.split('\n')) && isWithin(added, after.split('\n'))).toBe(true)
      expect(lines.length === 0).toBe(before === after)
    }),
  )
})

function isWithin(part: readonly string[], whole: readonly string[]): boolean {
  let found = 0
  for (const line of whole) if (line === part[found]) found += 1
  return found === part.length
}

test('three lines are shown around a change', () => {
  expect(diffLines('1\n2\n3\n4\n5\n6\n7\n8\n9', '1\n2\n3\n4\nfive\n6\n7\n8\n9')).toEqual([
    '@@ -2 +2 @@',
    ' 2',
    ' 3',
    ' 4',
    '-5',
    '+five',
    ' 6',
    ' 7',
    ' 8',
  ])
})

test('a change of very many lines is one block', () => {
  const lines = (text: string) => Array.from({ length: 3000 }, () => text).join('\n')
  expect(diffLines(lines('a'), lines('b')).length).toBe(6001)
})
