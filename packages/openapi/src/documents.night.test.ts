import { expect, test } from 'vitest'
import { readVendored } from './testing/documents.ts'
import { tryDocument } from './testing/try-document.ts'

test.each([
  ['github', 1185, 1184],
  ['kubernetes', 1008, 1008],
  ['digitalocean', 624, 614],
])('%s: all calls that the schema lets pass arrive as meant', async (name, tools, arrived) => {
  const trial = await tryDocument(readVendored(name))
  expect(trial).toMatchObject({ tools, wrong: [] })
  expect(trial.arrived).toBeGreaterThanOrEqual(arrived)
  expect(trial.longestName).toBeLessThanOrEqual(50)
  expect(trial.largestEntry).toBeLessThanOrEqual(20_000)
})
