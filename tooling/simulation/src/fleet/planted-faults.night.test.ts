import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { buildFleetProgram } from './fleet-program.ts'
import { invariants } from './invariants/violations.ts'
import { guardedFaults } from './planted-faults.ts'

const packages = join(import.meta.dirname, '../../../../packages')

// Each row has the first seed that finds the fault. A change of the simulation or of a package may change it.
test.each([
  ['round-used-without-claim', 4, 'rounds'],
  ['every-request-repeated', 13, 'rounds'],
  ['waiting-call-not-released', 1, 'quotas'],
  ['bus-not-connected-again', 1, 'calls'],
  ['lease-not-compared', 77, 'leases'],
  ['record-lost', 1, 'journal'],
  ['token-not-renewed', 6, 'leases'],
  ['answers-crossed', 1, 'answers'],
  ['owner-not-compared', 1, 'owners'],
  ['change-not-published', 5, 'changes'],
  ['sessions-mixed', 5, 'sessions'],
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

test.each(Object.entries(guardedFaults))(
  'the fault %s is left to a test of its package',
  (_, { file, code, guard }) => {
    expect(readFileSync(join(packages, file), 'utf8').split(code)).toHaveLength(2)
    expect(existsSync(join(packages, guard))).toBe(true)
  },
)
