import { expect, test } from 'vitest'
import { checkPages } from '../src/pages.mjs'
import { tree } from './tree.ts'

const page = '# A\n\n_For authors of servers._\n\nText.\n'

test('a listed page with its audience passes, and decisions require neither', () => {
  const index = '# Documentation\n\n| page | content |\n| --- | --- |\n| [A](guides/a.md) | An example. |\n'
  const files = { 'docs/README.md': index, 'docs/guides/a.md': page, 'docs/decisions/0001-a.md': '# A\n' }
  expect(checkPages(tree(files))).toEqual([])
})

test.each([
  ['a page without an audience', '[A](a.md)', '# A\n\nText.\n', 'docs/a.md does not name its audience'],
  ['an audience below other text', '[A](a.md)', page.replace('\n\n', '\n\nText.\n\n'), 'does not name its audience'],
  ['a page that is not listed', '[B](https://example.com/a.md)', page, 'docs/a.md is not listed in docs/README.md'],
])('%s is reported', (_, index, text, message) => {
  const found = checkPages(tree({ 'docs/README.md': index, 'docs/a.md': text }))
  expect(found).toHaveLength(1)
  expect(found[0]).toContain(message)
})
