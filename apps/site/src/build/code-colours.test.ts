import { expect, test, vi } from 'vitest'
import { createMarkdownRenderer } from 'vitepress'
import { requireColours, withoutTimeLimit } from './code-colours.ts'

const silent = { info: () => {}, warn: () => {} }
const render = async (text: string): Promise<string> => {
  const options = { config: requireColours, codeTransformers: [withoutTimeLimit] }
  const md = await createMarkdownRenderer('.', options, '/', Object.assign(Object.create(console), silent))
  return md.render(text, { path: 'page.md' })
}
const block = '```js\nconst [first, second] = [1, `text`] // and a comment\n```'

test('a block has the same colours from a builder on which each token takes a second', async () => {
  const fast = await render(block)
  let now = Date.now()
  vi.spyOn(Date, 'now').mockImplementation(() => (now += 1000))
  const slow = await render(block)
  vi.restoreAllMocks()
  expect(slow).toBe(fast)
  expect(fast.match(/--shiki-light/g)?.length).toBeGreaterThan(10)
})

test('a language that has no colours fails the build', async () => {
  await expect(render('```jss\nconst a = 1\n```')).rejects.toThrow(
    'The block "const a = 1" has no colours: Shiki has no language "jss". Write another, or "text"',
  )
  expect(await render('```text\nconst a = 1\n```')).toContain('const a = 1')
})
