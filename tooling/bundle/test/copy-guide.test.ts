import { expect, test } from 'vitest'
import { absoluteLinks } from '../src/copy-guide.mjs'

const base = 'https://git.example/x/mcp/blob/main/'

test.each([
  ['a sibling with a heading', '[a](state.md#keys)', `[a](${base}docs/guides/state.md#keys)`],
  ['a file of a package', '[a](../../packages/a/api.md)', `[a](${base}packages/a/api.md)`],
  ['an address', '[a](https://example.com/a)', '[a](https://example.com/a)'],
  ['a heading of the same guide', '[a](#keys)', '[a](#keys)'],
  ['the marker of a code block', '<!-- file: ../a.ts#b -->\n```ts', '```ts'],
])('a copied guide has absolute links: %s', (_, text, copied) => {
  expect(absoluteLinks(text, base)).toBe(copied)
})
