import { readdir } from 'node:fs/promises'
import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const source = new URL('../src/', import.meta.url)
const firstPrograms = await listPrograms('first')
const seedPrograms = await listPrograms('seps')

beforeEach(() => {
  vi.stubEnv('PORT', '0')
  // Without this variable strict replay is off, as outside a test runner.
  vi.stubEnv('VITEST', undefined)
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

test.each(firstPrograms)('the first program of a guide, %s, prints the output in the guide', printsItsOutput)

test.each(seedPrograms)('the program of a design document, %s, prints the messages on its page', printsItsOutput)

async function listPrograms(folder: string): Promise<readonly string[]> {
  const files = await readdir(new URL(folder, source))
  return files.filter((file) => file.endsWith('.mjs')).map((file) => `${folder}/${file}`)
}

async function printsItsOutput(file: string): Promise<void> {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import(new URL(file, source).href)
  const lines = print.mock.calls.map((values) => values.map(shown).join(' '))
  const output = new URL(file.replace(/\.mjs$/, '.txt'), source)
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(output.pathname)
}

function shown(value: unknown): string {
  return typeof value === 'string' ? value : inspect(value)
}
