import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { checkDocs } from '../src/docs.mjs'
import { tree } from './tree.ts'

const ticks = '```'
const block = (language: string, code: string): string => `${ticks}${language}\n${code}\n${ticks}\n`
const drawn = (marker: string, code: string): string => `# Title\n\n<!-- file: ${marker} -->\n${block('ts', code)}`
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
  ['a region within, at the left', 'example.ts#body', 'return 1 + 1', { 'example.ts': source }],
])('a block that equals %s passes', (_, marker, code, files) => {
  expect(checkDocs(tree({ 'README.md': drawn(marker, code), ...files }))).toEqual([])
})

test.each([
  ['TypeScript that no file holds', block('ts', 'let a'), 'README.md:1 shows TypeScript that no file holds'],
  ['a block that differs from its file', drawn('example.ts', 'const one = 2'), 'README.md:4 differs from example.ts'],
  ['a file that is not there', drawn('gone.ts', 'const one = 1'), 'drawn from gone.ts, which is not there'],
  ['a region that is not there', drawn('example.ts#gone', 'const one = 1'), 'drawn from example.ts#gone'],
  ['a link to no file', '[guide](guide.md)', 'README.md:1 links to guide.md'],
  ['a link to no heading', '# A\n\n[b](#b)', 'README.md:3 links to #b'],
  ['a link to no heading of another document', '[b](docs/b.md#c)', 'README.md:1 links to docs/b.md#c'],
])('%s is refused', (_, text, message) => {
  const root = tree({ 'README.md': text, 'example.ts': 'const one = 1\n', 'docs/b.md': '# B\n' })
  expect(checkDocs(root).join('\n')).toContain(message)
})

test('links that lead somewhere pass, and links in code are not links', () => {
  const text = '# One `two`, three\n\n[a](#one-two-three) [b](docs/b.md#b) [c](https://example.com) `[d](gone.md)`\n'
  expect(checkDocs(tree({ 'README.md': text, 'docs/b.md': '# B\n' }))).toEqual([])
})

test('links of a published README are absolute, and lead to files of the repository', () => {
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
  expect(found).not.toContain('docs/b.md')
})

test('--write draws the blocks anew', () => {
  const root = tree({
    'README.md': `${drawn('a.ts', 'old')}\nbetween\n\n${drawn('b.ts', 'old\nolder')}`,
    'a.ts': 'one\n',
    'b.ts': 'two\n',
  })
  expect(checkDocs(root, ['--write'])).toEqual([])
  expect(readFileSync(join(root, 'README.md'), 'utf8')).toBe(
    `${drawn('a.ts', 'one')}\nbetween\n\n${drawn('b.ts', 'two')}`,
  )
})

test.each([
  ['has no README', undefined, 'packages/a/README.md is not there'],
  ['does not say how to install it', 'npm install @x/ab', 'say how to install @x/a'],
])('a package that %s is refused', (_, readme, message) => {
  const root = tree({
    'packages/a/package.json': { name: '@x/a' },
    ...(readme === undefined ? {} : { 'packages/a/README.md': readme }),
  })
  expect(checkDocs(root).join('\n')).toContain(message)
})

test('a guide shows a region with the imports from packages that it uses', () => {
  const source = `import { one, two } from 'numbers'
import type { Three } from 'types'
import * as z from 'zod'
import { near } from './near.ts'
import { four } from 'numbers/four'

// #region sum
export const sum: Three = one + z.two(near.four)
// #endregion sum
`
  const root = tree({ 'docs/guides/a.md': drawn('a.ts#sum', ''), 'docs/guides/a.ts': source })
  checkDocs(root, ['--write'])
  expect(readFileSync(join(root, 'docs/guides/a.md'), 'utf8')).toBe(
    drawn(
      'a.ts#sum',
      `import { one } from 'numbers'
import type { Three } from 'types'
import * as z from 'zod'

export const sum: Three = one + z.two(near.four)`,
    ),
  )
})
