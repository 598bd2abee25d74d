import { expect, test } from 'vitest'
import { readMenu } from './menu.ts'
import { linkOnSite, pageOf } from './pages.ts'

test.each([
  ['README.md', 'index.md'],
  ['docs/README.md', 'docs.md'],
  ['docs/guides/replay.md', 'guides/replay.md'],
  ['docs/decisions/0001-exchange.md', 'decisions/0001-exchange.md'],
  ['packages/server/README.md', 'packages/server.md'],
  ['docs/reference/@x/server/@x/server.md', 'reference/server/main.md'],
  ['docs/reference/@x/server/@x/server/node.md', 'reference/server/node.md'],
  ['docs/reference/@x/cli.md', 'reference/cli/main.md'],
  ['docs/reference/@x/schema/index.md', 'reference/schema/index.md'],
  ['packages/server/src/index.ts', undefined],
  ['packages/server/api.md', undefined],
])('%s is at %s', (file, page) => {
  expect(pageOf(file)).toBe(page)
})

const files = new Set(['docs/guides/state.md', 'packages/server/README.md', 'examples/deploy/Dockerfile'])
const targets = { repository: 'https://git.example/x/mcp', isFile: (file: string) => files.has(file) }

test.each([
  ['a page beside', 'state.md#keys', '/guides/state.md#keys'],
  ['a README', '../../packages/server/README.md', '/packages/server.md'],
  [
    'a page by its address in the repository',
    `${targets.repository}/blob/main/docs/guides/state.md`,
    '/guides/state.md',
  ],
  ['a file', '../../examples/deploy/Dockerfile', `${targets.repository}/blob/main/examples/deploy/Dockerfile`],
  ['a heading', '#keys', '#keys'],
  ['another site', 'https://example.com/a.md', 'https://example.com/a.md'],
])('a link to %s leads there', (_, target, expected) => {
  expect(linkOnSite('docs/guides/replay.md', target, targets)).toBe(expected)
})

test('the menu has a section for each heading with a table of pages', () => {
  const index =
    '# Documentation\n\nText.\n\n## Guides\n\n| page | content |\n| --- | --- |\n| [A](a.md) | An [a](b.md). |\n| [B](b.md), [C](c.md) | Two. |\n\n## Empty\n\nText.\n'
  expect(readMenu(index)).toEqual([
    {
      title: 'Guides',
      entries: [
        { title: 'A', target: 'a.md', description: 'An [a](b.md).' },
        { title: 'B', target: 'b.md', description: 'Two.' },
        { title: 'C', target: 'c.md', description: 'Two.' },
      ],
    },
  ])
})
