import { readFile } from 'node:fs/promises'
import { expect, test } from 'vitest'

async function importsFrom(file: URL, seen = new Map<string, string>()): Promise<ReadonlyMap<string, string>> {
  if (seen.has(file.href)) return seen
  const source = await readFile(file, 'utf8')
  seen.set(file.href, source)
  for (const [, name = ''] of source.matchAll(/^(?:import|export) [^']*'(\.[^']+)'/gm))
    await importsFrom(new URL(name, file), seen)
  return seen
}

test('the main entry and all that it imports run without Node', async () => {
  const files = await importsFrom(new URL('index.ts', import.meta.url))
  const needing = [...files].filter(([, source]) => /'node:|\bBuffer\b|\bprocess\.|'undici'/.test(source))
  expect(needing.map(([file]) => file)).toEqual([])
  expect(files.size).toBeGreaterThan(15)
})
