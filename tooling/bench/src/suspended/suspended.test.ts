import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { isNight } from '@tooling/vitest/needs'
import { build } from 'esbuild'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { minGrowth } from '../memory/min-growth.ts'
import type { Measured } from './measure.ts'
import { runProgram } from './run-program.ts'

/**
 * The number of calls, and the growth of the heap for each of them without a leak. At night a leak of one empty object
 * per call is twice as large. For each change it is a leak of a context, which is sixty times as large.
 */
const [calls, noisePerCall] = isNight ? [10_000, 16] : [2000, 128]
const noiseBytes = noisePerCall * calls

describe('calls that ask and are never answered', () => {
  let folder = ''
  let program = ''
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'suspended-'))
    program = join(folder, 'program.cjs')
    const entry = fileURLToPath(new URL('./program.ts', import.meta.url))
    await build({ entryPoints: [entry], bundle: true, outfile: program, format: 'cjs', platform: 'node' })
  })
  afterAll(() => rm(folder, { recursive: true, force: true }))

  test('leave no memory behind [MRT-016]', async () => {
    const { heaps } = await runProgram<Measured>(program, [String(calls), '3'])
    expect(minGrowth(heaps)).toBeLessThan(noiseBytes)
  })

  test('show a leak of a tenth as many contexts', async () => {
    const { heaps } = await runProgram<Measured>(program, [String(calls / 10), '3', 'leak'])
    expect(minGrowth(heaps)).toBeGreaterThan(noiseBytes)
  })
})
