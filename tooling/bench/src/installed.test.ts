import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { ceilings } from './ceilings.ts'
import { installedFiles } from './installed-files.ts'

const bench = fileURLToPath(new URL('../', import.meta.url))

test.each(ceilings.map((row) => [row.title, row] as const))(
  'the install of %s stays within its limits',
  async (_title, row) => {
    const { packages, bytes } = await installedFiles(row.names, bench)
    expect(packages.length, packages.join(', ')).toBeLessThanOrEqual(row.packages)
    expect(bytes).toBeLessThanOrEqual(row.bytes)
    // A ceiling far above the real size would detect no growth.
    expect(packages.length).toBeGreaterThan(row.packages - 2)
    expect(bytes).toBeGreaterThan(row.bytes * 0.8)
  },
)
