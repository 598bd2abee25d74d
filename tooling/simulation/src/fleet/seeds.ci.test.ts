import { sizeOf } from '@tooling/vitest/needs'
import { expect, test } from 'vitest'
import { buildFleetProgram } from './fleet-program.ts'

/** The number of seeds in each of two processes. */
const seedsPerProcess = sizeOf({ change: 15, night: 500 })

test('fleets of many seeds break no invariant [SIM-002]', async () => {
  const program = await buildFleetProgram('fleet-ci')
  const runs = await Promise.all(
    [1, 1 + seedsPerProcess].map((from) => program.run(['--seeds', String(seedsPerProcess), '--from', String(from)])),
  )
  for (const { output, exitCode } of runs) {
    process.stdout.write(output)
    expect(exitCode, output).toBe(0)
  }
})
