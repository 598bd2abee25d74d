import { expect, test } from 'vitest'
import { buildFleetProgram } from './fleet-program.ts'
import { invariants } from './invariants/violations.ts'

/** CI runs 30 seeds for each change, and a night 1,000. Which of them finds a fault changes with the packages. */
const maxSeeds = 100
const seedsPerRun = 20

test.each([
  ['round-used-without-claim', 'rounds'],
  ['every-request-repeated', 'rounds'],
  ['waiting-call-not-released', 'quotas'],
  ['bus-not-connected-again', 'calls'],
  ['lease-not-compared', 'leases'],
  ['record-lost', 'journal'],
  ['token-not-renewed', 'leases'],
  ['answers-crossed', 'answers'],
  ['answer-never-sent-again', 'calls'],
  ['owner-not-compared', 'owners'],
  ['change-not-published', 'changes'],
  ['sessions-mixed', 'sessions'],
  ['outage-ends-session', 'sessions'],
  ['gateway-mixes-callers', 'owners'],
] as const)('the fault %s in the code of a package is found [SIM-003]', async (fault, invariant) => {
  const program = await buildFleetProgram(`planted-${fault}`, fault)
  const violation = `broken: ${invariants[invariant]}`
  let run = { output: '', exitCode: 0 }
  for (let from = 1; from <= maxSeeds && !run.output.includes(violation); from += seedsPerRun)
    run = await program.run(['--seeds', String(seedsPerRun), '--from', String(from)])
  expect(run.output).toContain(violation)
  expect(run.exitCode).toBe(1)
})
