import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

test('the program in the README is the one that is compiled and run', async () => {
  const read = (name: string) => readFile(new URL(`../${name}`, import.meta.url), 'utf8')
  const [readme, example] = [await read('README.md'), await read('example.ts')]
  expect(readme.split('```ts\n')[1]?.split('```')[0]).toBe(example)
  const { greeting } = await import('../example.ts')
  expect(greeting).toBe('[{"type":"text","text":"Hello, Ada!"}]')
})
