import { expect, test } from 'vitest'
import { absoluteLinks } from '../src/copy-guide.mjs'

const base = 'https://git.example/x/mcp/blob/main/'

test.each([
  ['a sibling with a heading', '[a](state.md#keys)', `[a](${base}docs/guides/state.md#keys)`],
  ['a file of a package', '[a](../../packages/a/api.md)', `[a](${base}packages/a/api.md)`],
  ['an address', '[a](https://example.com/a)', '[a](https://example.com/a)'],
  ['a heading of its own', '[a](#keys)', '[a](#keys)'],
  ['the marker of a drawn block', '<!-- file: ../a.ts#b -->\n```ts', '```ts'],
])('%s of a copied guide leads to the repository', (_, text, copied) => {
  expect(absoluteLinks(text, base)).toBe(copied)
})
