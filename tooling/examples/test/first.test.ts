import { readdir } from 'node:fs/promises'
import { inspect } from 'node:util'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'

const folder = new URL('../src/first/', import.meta.url)
const programs = (await readdir(folder)).filter((file) => file.endsWith('.mjs'))

beforeEach(() => {
  vi.stubEnv('PORT', '0')
  // The programs run as they do without a test runner: strict replay is off.
  vi.stubEnv('VITEST', undefined)
})

afterEach(() => {
  vi.restoreAllMocks()
  vi.unstubAllEnvs()
})

test.each(programs)('the first program of a guide, %s, prints what the guide shows', async (file) => {
  const print = vi.spyOn(console, 'log').mockImplementation(() => {})
  await import(new URL(file, folder).href)
  const lines = print.mock.calls.map((values) => values.map(shown).join(' '))
  const output = new URL(file.replace(/\.mjs$/, '.txt'), folder)
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(output.pathname)
})

function shown(value: unknown): string {
  return typeof value === 'string' ? value : inspect(value)
}
