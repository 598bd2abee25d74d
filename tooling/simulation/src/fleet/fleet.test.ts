import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect, test } from 'vitest'
import { buildFleetProgram, type FleetProgram } from './fleet-program.ts'
import { invariants } from './invariants/violations.ts'
import { guardedFaults, plantedFaults } from './planted-faults.ts'

const packages = join(import.meta.dirname, '../../../../packages')

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
    program.run(['--seeds', '1', '--from', '82', '--trace']),
    program.run(['--seeds', '1', '--from', '82', '--trace']),
    program.run(['--seeds', '3', '--from', '80', '--trace']),
  ])
  expect(first.output.split('\n').length).toBeGreaterThan(100)
  expect(withoutTime(second.output)).toBe(withoutTime(first.output))
  expect(series.output).toContain(first.output.slice(0, first.output.indexOf('full trace:')))
})

test('an invalid number of seeds is rejected', async () => {
  await expect(program.run(['--seeds', 'many'])).rejects.toThrow('--seeds is many; write a whole number from 1')
})

test('a fault that is planted in the code of a package is found [SIM-003]', async () => {
  const faulty = await buildFleetProgram('fleet-faulty', 'record-lost')
  const { output, exitCode } = await faulty.run(['--seeds', '1', '--from', '1'])
  expect(output).toContain(`broken: ${invariants.journal}`)
  expect(output).toContain('pnpm simulation:fleet --from 1 --seeds 1 --trace')
  expect(exitCode).toBe(1)
})

test('the code that a planted fault replaces stands once in its file, and the test that guards a fault exists', () => {
  for (const [name, { file, code }] of Object.entries({ ...plantedFaults, ...guardedFaults }))
    expect(readFileSync(join(packages, file), 'utf8').split(code), name).toHaveLength(2)
  for (const { guard } of Object.values(guardedFaults)) expect(existsSync(join(packages, guard)), guard).toBe(true)
})
