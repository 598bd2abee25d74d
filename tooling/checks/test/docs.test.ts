import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkDocs } from '../src/docs.mjs'
import { tree } from './tree.ts'

const ticks = '```'
const page = '# B\n\n_For authors of servers._\n\nText.\n'
const block = (language: string, code: string): string => `${ticks}${language}\n${code}\n${ticks}\n`
const markedBlock = (marker: string, code: string): string =>
  `# Title\n\n<!-- file: ${marker} -->\n${block('ts', code)}`
const source =
  'const skipped = 0\n// #region sum\nfunction sum() {\n  // #region body\n  return 1 + 1\n  // #endregion body\n}\n// #endregion sum\n'

test.each([
  ['a whole file', 'example.ts', 'const one = 1', { 'example.ts': 'const one = 1\n' }],
  [
    'a region, without the lines that mark regions',
    'example.ts#sum',
    'function sum() {\n  return 1 + 1\n}',
    { 'example.ts': source },
  ],
  ['a nested region, without its indentation', 'example.ts#body', 'return 1 + 1', { 'example.ts': source }],
])('a block that equals %s passes', (_, marker, code, files) => {
  expect(checkDocs(tree({ 'README.md': markedBlock(marker, code), ...files }))).toEqual([])
})

test.each([
  ['TypeScript that no file contains', block('ts', 'let a'), 'README.md:1 has TypeScript that no file contains'],
  [
    'a block that differs from its file',
    markedBlock('example.ts', 'const one = 2'),
    'README.md:4 differs from example.ts',
  ],
  ['a missing file', markedBlock('gone.ts', 'const one = 1'), 'names gone.ts, which does not exist'],
  ['a missing region', markedBlock('example.ts#gone', 'const one = 1'), 'names example.ts#gone'],
  ['a link to a missing file', '[guide](guide.md)', 'README.md:1 links to guide.md'],
  ['a link to a missing heading', '# A\n\n[b](#b)', 'README.md:3 links to #b'],
  ['a link to a missing heading of another document', '[b](docs/b.md#c)', 'README.md:1 links to docs/b.md#c'],
])('%s is reported', (_, text, message) => {
  const root = tree({ 'README.md': text, 'example.ts': 'const one = 1\n', 'docs/b.md': '# B\n' })
  expect(checkDocs(root).join('\n')).toContain(message)
})

test('valid links pass, and links in code are ignored', () => {
  const text =
    '# One `two`, three\n\n[a](#one-two-three) [b](b.md) [b](b.md#b) [c](https://example.com) `[d](gone.md)`\n'
  const files = { 'docs/b.md': page, 'docs/decisions/0001-a.md': '# A\n' }
  expect(checkDocs(tree({ 'docs/README.md': text, ...files }))).toEqual([])
})

test('relative links of a published README are reported, and absolute ones to missing files too', () => {
  const home = 'https://git.example/x/mcp'
  const links = `[a](../../docs/a.md) [b](${home}/blob/main/docs/b.md#b) [c](${home}/blob/main/docs/c.md)`
  const root = tree({
    'package.json': JSON.stringify({ homepage: home }),
    'packages/a/README.md': `@x/a\n\n${links}\n`,
    'docs/a.md': '# A\n',
    'docs/b.md': '# B\n',
  })
  const found = checkDocs(root).join('\n')
  expect(found).toContain('packages/a/README.md:3 links to ../../docs/a.md')
  expect(found).toContain(`packages/a/README.md:3 links to ${home}/blob/main/docs/c.md`)
  expect(found).not.toContain('docs/b.md#b')
})

test('--write updates the blocks', () => {
  const root = tree({
    'README.md': `${markedBlock('a.ts', 'old')}\nbetween\n\n${markedBlock('b.ts', 'old\nolder')}`,
    'a.ts': 'one\n',
    'b.ts': 'two\n',
  })
  expect(checkDocs(root, ['--write'])).toEqual([])
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toBe(
    `${markedBlock('a.ts', 'one')}\nbetween\n\n${markedBlock('b.ts', 'two')}`,
  )
})

test.each([
  ['has no README', undefined, 'packages/a/README.md does not exist'],
  ['has no install command', 'npm install @x/ab', 'has no install command for @x/a'],
])('a package that %s is reported', (_, readme, message) => {
  const root = tree({
    'packages/a/package.json': { name: '@x/a' },
    ...(readme === undefined ? {} : { 'packages/a/README.md': readme }),
  })
  expect(checkDocs(root).join('\n')).toContain(message)
})

test('a region in a guide has the imports from packages that it uses', () => {
  const source = `import { one, two } from 'numbers'
import type { Three } from 'types'
import * as z from 'zod'
import { near } from './near.ts'
import { four } from 'numbers/four'

// #region sum
export const sum: Three = one + z.two(near.four)
// #endregion sum
`
  const root = tree({ 'docs/guides/a.md': markedBlock('a.ts#sum', ''), 'docs/guides/a.ts': source })
  checkDocs(root, ['--write'])
  expect(readFileSync(join(root, 'docs/guides/a.md'), 'utf8')).toBe(
    markedBlock(
      'a.ts#sum',
      `import { one } from 'numbers'
import type { Three } from 'types'
import * as z from 'zod'

export const sum: Three = one + z.two(near.four)`,
    ),
  )
})

test.each([
  ['without an audience', '[A](a.md)', '# A\n\nText.\n', 'docs/a.md does not name its audience'],
  [
    'with its audience below other text',
    '[A](a.md)',
    page.replace('\n\n', '\n\nText.\n\n'),
    'docs/a.md does not name its audience',
  ],
  ['that is not listed', '[B](https://example.com/a.md)', page, 'docs/a.md is not listed in docs/README.md'],
])('a page %s is reported', (_, index, text, message) => {
  expect(checkDocs(tree({ 'docs/README.md': index, 'docs/a.md': text }))).toEqual([expect.stringContaining(message)])
})
