import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import { beforeAll, expect, test } from 'vitest'
import { runCommand } from '../src/testing/run-command.ts'

const root = fileURLToPath(new URL('../../../', import.meta.url))
let commandLines: readonly string[] = []

beforeAll(async () => {
  const guides = (await readdir(`${root}docs/guides`)).filter((name) => name.endsWith('.md'))
  const pages = ['packages/cli/README.md', ...guides.map((name) => `docs/guides/${name}`)]
  const texts = await Promise.all(pages.map((page) => readFile(`${root}${page}`, 'utf8')))
  commandLines = texts.flatMap((text) =>
    [...text.replaceAll('\\\n', ' ').matchAll(/(?:^|`)(?:mcpx|npx @x\/cli) ([^`\n#]+)/gm)].map(([, line = '']) => line),
  )
})

test('each command line of the guides has a command and options that exist', async () => {
  expect(commandLines.length).toBeGreaterThan(8)
  for (const line of commandLines) {
    // Values in quotes are no options.
    const words = line
      .replaceAll(/'[^']*'|"[^"]*"/g, 'value')
      .trim()
      .split(/\s+/)
    const path: string[] = []
    for (const word of words) {
      const { out } = await runCommand([...path, '--help'])
      if (!new RegExp(`^ {2}${word} `, 'm').test(out.split('Commands:')[1] ?? '')) break
      path.push(word)
    }
    const { out } = await runCommand([...path, '--help'])
    const options = words.filter((word) => word.startsWith('--') && word !== '--help')
    expect([line, path.length > 0 || options.length === 0]).toEqual([line, true])
    for (const option of options) expect([line, out]).toEqual([line, expect.stringContaining(`${option} `)])
  }
})
