import { beforeAll, describe, expect, test } from 'vitest'
import { invariants } from './invariants/violations.ts'
import { buildFleetProgram, type FleetProgram } from './fleet-program.ts'

let program: FleetProgram

beforeAll(async () => {
  program = await buildFleetProgram('fleet-test')
})

/** Returns the output without the last line, which has the real time. */
function withoutTime(output: string): string {
  return output.replace(/^\d+\.\d s\n$/mu, '')
}

test('a seed has the same trace in each run, alone and after other seeds [SIM-001]', async () => {
  const [first, second, series] = await Promise.all([
    program.run(['--seeds', '1', '--from', '17', '--trace']),
    program.run(['--seeds', '1', '--from', '17', '--trace']),
    program.run(['--seeds', '3', '--from', '15', '--trace']),
  ])
  expect(first.output.split('\n').length).toBeGreaterThan(100)
  expect(withoutTime(second.output)).toBe(withoutTime(first.output))
  expect(series.output).toContain(first.output.slice(0, first.output.indexOf('full trace:')))
})

test('an unknown defect and an invalid number of seeds are rejected', async () => {
  await expect(program.run(['--defect', 'nothing'])).rejects.toThrow('--defect is nothing; write one of no-fence')
  await expect(program.run(['--seeds', 'many'])).rejects.toThrow('--seeds is many; write a whole number from 1')
})

// Each row has the first seed that finds the defect. A change of the simulation or of a package may change it:
// `--seeds 100 --defect …` prints all such seeds.
describe('an injected defect is found [SIM-003]', () => {
  test.each([
    ['no-fence', 32, 'leases'],
    ['lost-record', 1, 'journal'],
    ['claim-given-twice', 1, 'leases'],
    ['crossed-answers', 1, 'answers'],
    ['ignored-owners', 1, 'owners'],
    ['leaking-quota', 1, 'quotas'],
    ['round-resumed-twice', 2, 'rounds'],
    ['missed-change', 4, 'changes'],
    ['mixed-sessions', 4, 'sessions'],
    ['shed-after-effect', 2, 'rounds'],
  ] as const)('%s, with seed %d', async (defect, seed, invariant) => {
    const { output, exitCode } = await program.run(['--seeds', '1', '--from', String(seed), '--defect', defect])
    expect(output).toContain(`broken: ${invariants[invariant]}`)
    expect(output).toContain(`pnpm simulation:fleet --from ${seed} --seeds 1 --defect ${defect} --trace`)
    expect(exitCode).toBe(1)
  })
})
