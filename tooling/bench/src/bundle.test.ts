import { expect, test } from 'vitest'
import { bundles, measureBundle, measureStart } from './bundles.ts'

const sizes = new Map(bundles.map(({ name, source }) => [name, measureBundle(source)]))

test.each(bundles.map((row) => [row.name, row] as const))(
  'the bundle of %s stays within its ceiling',
  async (name, row) => {
    const { gzipped, packages } = await sizeOf(name)
    const shares = [...packages].map(([owner, bytes]) => `${owner} ${bytes}`).join(', ')
    expect(gzipped, `before gzip: ${shares}`).toBeLessThanOrEqual(row.ceiling)
    // A ceiling far above the real size would detect no growth.
    expect(gzipped).toBeGreaterThan(row.ceiling * 0.8)
  },
)

test.each(bundles.map((row) => [row.name, row] as const))(
  'the code that %s loads at its start stays within its ceiling',
  async (_name, row) => {
    const { gzipped, packages } = await measureStart(row.source)
    expect(gzipped).toBeLessThanOrEqual(row.startCeiling)
    expect(gzipped).toBeGreaterThan(row.startCeiling * 0.8)
    expect([...packages.keys()], 'only the first validated value loads the validator').not.toContain(
      '@cfworker/json-schema',
    )
  },
)

test.each(bundles.filter(({ source }) => !source.includes("'zod'")).map(({ name }) => name))(
  'the bundle of %s has no zod, because its program does not import it',
  async (name) => {
    expect([...(await sizeOf(name)).packages.keys()]).not.toContain('zod')
  },
)

test.each(['`form` alone', '`tool` alone', '`createClient` alone'])(
  'the bundle of %s has no validator of JSON Schema',
  async (name) => {
    expect([...(await sizeOf(name)).packages.keys()]).not.toContain('@cfworker/json-schema')
  },
)

function sizeOf(name: string): ReturnType<typeof measureBundle> {
  const size = sizes.get(name)
  if (size === undefined) throw new Error(`no bundle has the name ${name}`)
  return size
}
