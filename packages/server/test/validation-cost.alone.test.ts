import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { build } from 'esbuild'
import { expect, test } from 'vitest'

// Ratios of one run in one process: no time is compared with a number of seconds.
test('rejecting arguments costs at most 5 times what valid ones of the same bytes cost, and grows with their size', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'validation-cost-'))
  try {
    const outfile = join(folder, 'program.mjs')
    const entry = fileURLToPath(new URL('./programs/validation-cost.ts', import.meta.url))
    await build({ entryPoints: [entry], bundle: true, outfile, format: 'esm', platform: 'node' })
    const flags = ['--max-old-space-size=256', '--max-semi-space-size=64', '--expose-gc']
    // A busy machine disturbs a single measurement; a fault shows in each of three.
    let tooMuch: [string, number][] = []
    for (let attempt = 0; attempt < 3; attempt += 1) {
      const { stdout } = await promisify(execFile)(process.execPath, [...flags, outfile])
      const ratios: Record<string, number> = JSON.parse(stdout)
      expect(Object.keys(ratios)).toHaveLength(22)
      tooMuch = Object.entries(ratios).filter(([name, ratio]) => ratio > (name.includes('2n to n') ? 2.5 : 5))
      if (tooMuch.length === 0) break
    }
    expect(tooMuch).toEqual([])
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}, 240_000)
