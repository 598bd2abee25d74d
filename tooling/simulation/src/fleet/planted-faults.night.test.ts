import { expect, test } from 'vitest'
import { buildFleetProgram } from './fleet-program.ts'
import { invariants } from './invariants/violations.ts'

// Each row has the first seed that finds the fault. A change of the simulation or of a package may change it.
test.each([
  ['round-used-without-claim', 4, 'rounds'],
  ['every-request-repeated', 13, 'rounds'],
  ['waiting-call-not-released', 1, 'quotas'],
  ['bus-not-connected-again', 1, 'calls'],
  ['lease-not-compared', 77, 'leases'],
  ['record-lost', 1, 'journal'],
  ['token-not-renewed', 10, 'leases'],
  ['answers-crossed', 1, 'answers'],
  ['answer-never-sent-again', 63, 'calls'],
  ['owner-not-compared', 1, 'owners'],
  ['change-not-published', 5, 'changes'],
  ['sessions-mixed', 5, 'sessions'],
  ['outage-ends-session', 8, 'sessions'],
  ['gateway-mixes-callers', 10, 'owners'],
] as const)(
  'the fault %s in the code of a package is found, with seed %d [SIM-003]',
  async (fault, seed, invariant) => {
    const program = await buildFleetProgram(`planted-${fault}`, fault)
    const { output, exitCode } = await program.run(['--seeds', '1', '--from', String(seed)])
    expect(output).toContain(`broken: ${invariants[invariant]}`)
    expect(exitCode).toBe(1)
  },
)
