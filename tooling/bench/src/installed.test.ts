import { expect, test } from 'vitest'
import { ceilings, installedFiles } from './installed.ts'

test.each(ceilings.map((row) => [row.title, row] as const))(
  'the install of %s stays within its limits',
  async (_title, row) => {
    const { packages, bytes } = await installedFiles(row.names)
    expect(packages.length, packages.join(', ')).toBeLessThanOrEqual(row.packages)
    expect(bytes).toBeLessThanOrEqual(row.megabytes * 1e6)
    // A ceiling far above the real size would detect no growth.
    expect(packages.length).toBeGreaterThan(row.packages - 2)
    expect(bytes).toBeGreaterThan(row.megabytes * 0.8e6)
  },
)
