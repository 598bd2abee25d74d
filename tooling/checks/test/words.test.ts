import { expect, test } from 'vitest'
import { measureWords, wordLimits } from '../src/words.mjs'
import { tree } from './tree.ts'

const [people, telling, idioms, semicolons, sentences] = [0, 1, 2, 3, 4]

const places = (row: number, text: string, file = 'packages/a/src/a.ts'): readonly string[] =>
  measureWords(tree({ [file]: text })).all.results[row]?.details.map((detail) => detail.split(':', 2)[1] ?? '') ?? []

const count = (row: number, text: string, file?: string): number => places(row, text, file).length

test.each([
  ['whoever', people, 1],
  ['nobody', people, 1],
  ['Whatever', people, 1],
  ['a body', people, 0],
  ['is told of', telling, 1],
  ['tells', telling, 1],
  ['learns', telling, 1],
  ['a storyteller', telling, 0],
  ['goes on', idioms, 1],
  ['comes back', idioms, 1],
  ['stands', idioms, 1],
  ['understands', idioms, 0],
  ['is under way', idioms, 1],
  ['is away', idioms, 1],
  ['has gone', idioms, 1],
  ['goes by', idioms, 0],
])('the words "%s" are counted in row %i %i times', (words, row, times) => {
  expect(count(row, `// It ${words} here.`)).toBe(times)
})

test.each([
  ['a doc comment', '/**\n * One; two.\n */\nconst a = 1', 1],
  ['a line comment behind code', 'const a = 1 // one; two', 1],
  ['the text of an error', "throw new RangeError('one; two')", 1],
  ['the text that a function ending in Error takes', "usageError('one; two')", 1],
  ['a template in an error', 'throw new Error(`one ${1}; two`)', 1],
  ['no other string', "const a = 'one; two'", 0],
  ['no code of a comment', '// one `a; b` two', 0],
  ['no block of code in a comment', '/**\n * One:\n * ```ts\n * a; b\n * ```\n */\nconst a = 1', 0],
  ['no directive', '// oxlint-disable-next-line rule -- one; two', 0],
])('semicolons are counted in %s', (_, text, times) => {
  expect(count(semicolons, text)).toBe(times)
})

test('semicolons of a README are counted outside its code', () => {
  const page = '# A\n\nOne; two, `a; b`.\n\n```ts\nc; d\n```\n'
  expect(places(semicolons, page, 'packages/a/README.md')).toEqual(['3 ;'])
})

const long = Array.from({ length: 26 }, () => 'word').join(' ')
const half = Array.from({ length: 13 }, () => 'word').join(' ')

test.each([
  ['one of 26 words', `// ${long}.`, 1],
  ['one that line comments share', `// ${half}\n// ${half}.`, 1],
  ['not two that a full stop divides', `// ${half}. ${half}.`, 0],
  ['not two that a tag divides', `/**\n * ${half}\n * @param a ${half}\n */\nfunction one(a) {}`, 0],
  ['not items of a list', `/**\n * - ${half}\n * - ${half}\n */\nfunction one(a) {}`, 0],
])('long sentences are counted: %s', (_, text, times) => {
  expect(count(sentences, text)).toBe(times)
})

test('each cell of a table is a separate sentence', () => {
  const page = `| a | b |\n| --- | --- |\n| ${half} | ${half} |\n| ${half} | ${half} |\n`
  expect(count(sentences, page, 'packages/a/README.md')).toBe(0)
})

test('a place has the file, the line and the surrounding words', () => {
  const text = 'const a = 1\n/**\n * Returns it.\n * Works for nobody else.\n */\nconst b = 2'
  const { all } = measureWords(tree({ 'packages/a/src/a.ts': text }))
  expect(all.results[people]?.details).toEqual(['packages/a/src/a.ts:4 nobody: …Returns it. Works for nobody else.…'])
})

test('packages and documents are counted separately', () => {
  const { all, packages, documents } = measureWords(
    tree({
      'packages/a/src/a.ts': '// nobody',
      'packages/b/README.md': 'two words',
      'docs/guides/a.md': 'nobody nobody',
      'packages/a/src/a.test.ts': '// nobody',
    }),
  )
  expect(packages.map(({ name, words }) => [name, words])).toEqual([
    ['packages/a', 1],
    ['packages/b', 2],
  ])
  expect([all.words, documents.words, documents.results[people]?.details.length]).toEqual([3, 2, 2])
  expect(wordLimits.map(({ limit }) => limit)).toEqual([4, 2, 1.5, 40, 3])
})
