import { expect, test } from 'vitest'
import { bundles, measureBundle } from './bundle.ts'

const rows = bundles.map((row) => [row.name, row] as const)
const validator = '@cfworker/json-schema'

test.each(rows)('the bundle of %s stays within its ceiling', async (name, { source, ceiling }) => {
  const { gzipped, owners } = await measureBundle(source)
  const shares = [...owners].map(([owner, bytes]) => `${owner} ${bytes}`).join(', ')
  expect(gzipped, `before gzip: ${shares}`).toBeLessThanOrEqual(ceiling * 1000)
  // A ceiling far above the real size would detect no growth.
  expect(gzipped).toBeGreaterThan(ceiling * 800)
  // A program carries zod only if it imports it, and what one function alone carries has no validator.
  expect(owners.has('zod')).toBe(source.includes("'zod'"))
  if (name.endsWith(' alone')) expect([...owners.keys()]).not.toContain(validator)
})

test.each(rows)('the code that %s loads at its start stays within its ceiling', async (_name, row) => {
  const { gzipped, owners } = await measureBundle(row.source, { splitting: true })
  expect(gzipped).toBeLessThanOrEqual(row.startCeiling * 1000)
  expect(gzipped).toBeGreaterThan(row.startCeiling * 800)
  expect([...owners.keys()], 'only the first validated value loads the validator').not.toContain(validator)
})
