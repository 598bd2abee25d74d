import { expect, test } from 'vitest'
import { buildFleetProgram } from './fleet-program.ts'
import { invariants } from './invariants/violations.ts'

// Each row has the first seed that finds the fault. A change of the simulation or of a package may change it.
test.each([
  ['round-used-without-claim', 2, 'rounds'],
  ['every-request-repeated', 5, 'rounds'],
  ['waiting-call-not-released', 2, 'quotas'],
] as const)(
  'the fault %s in the code of a package is found, with seed %d [SIM-003]',
  async (fault, seed, invariant) => {
    const program = await buildFleetProgram(`planted-${fault}`, fault)
    const { output, exitCode } = await program.run(['--seeds', '1', '--from', String(seed)])
    expect(output).toContain(`broken: ${invariants[invariant]}`)
    expect(exitCode).toBe(1)
  },
  60_000,
)
