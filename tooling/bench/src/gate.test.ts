import { expect, test } from 'vitest'
import { checkRatios } from './gate.ts'
import { cpuColumn, type RatioBenchmark, ratioBenchmark, type RatioId, type Timing } from './ratios.ts'

const timing: Timing = { rounds: 3, seconds: 1, warmUp: 1 }
const longer: Timing = { rounds: 5, seconds: 2, warmUp: 2 }

/** A benchmark with given ratios of CPU, one for each run. It records what it measures, and its second round is slow. */
function fakeBenchmark(
  ratios: Readonly<Partial<Record<RatioId, readonly number[]>>>,
): RatioBenchmark & { readonly measured: unknown[]; readonly order: string[] } {
  const measured: unknown[] = []
  const order: string[] = []
  return {
    ids: ['http/64', 'http/500-tools', 'list/1'],
    measured,
    order,
    measure: (options) => {
      const run = measured.push({ only: options.only, timing: options.timing }) - 1
      const passes = Object.entries(ratios).map(([id, cpu]) => ({
        title: id,
        // The keys of the record are ids of ratios.
        rows: [{ id: id as RatioId }],
        columns: [cpuColumn] as const,
        measure: async ({ name }: { readonly name: string }) => {
          const round = Math.floor((order.push(name) - 1) / 2)
          const slow = round % 3 === 1 ? 100 : 1
          return { cpu: slow * (name === 'ours' ? (cpu[run] ?? 1) : 1) }
        },
      }))
      const targets = ['floor', 'ours'].map((name) => ({ name, start: async () => ({ name }) }))
      return ratioBenchmark({ targets, passes, warm: async () => ({ cpu: 1 }) }).measure(options)
    },
  }
}

async function check(benchmarks: readonly RatioBenchmark[], ids: readonly RatioId[] = ['http/64']) {
  const lines: string[] = []
  const gated = ids.map((id) => ({ id, today: 1.5 }))
  const passed = await checkRatios(benchmarks, { gated, timing, longer, print: (line) => lines.push(line) })
  return { passed, lines }
}

test.each([
  ['within a fifth of its value passes', 1.79, true],
  ['beyond it fails', 1.81, false],
  ['that is not a number fails', Number.NaN, false],
])('a ratio %s', async (_, cpu, passed) => {
  const benchmark = fakeBenchmark({ 'http/64': [cpu, cpu], 'list/1': [9] })
  const result = await check([benchmark])
  expect(result.passed).toBe(passed)
  expect(result.lines.filter((line) => line.startsWith('FAILED http/64'))).toHaveLength(passed ? 0 : 1)
  expect(result.lines.join('\n')).toContain(`CPU ${cpu.toFixed(2)} x the base's  today 1.50, at most 1.80`)
  expect(benchmark.order.slice(0, 6)).toEqual(['floor', 'ours', 'ours', 'floor', 'floor', 'ours'])
})

test('a ratio above its limit is measured again alone and for longer, which decides', async () => {
  const benchmark = fakeBenchmark({ 'http/64': [2, 1.5], 'http/500-tools': [1] })
  expect((await check([benchmark], ['http/64', 'http/500-tools'])).passed).toBe(true)
  expect(benchmark.measured).toEqual([
    { only: ['http/64', 'http/500-tools'], timing },
    { only: ['http/64'], timing: longer },
  ])
})

test('every benchmark runs, also after one that failed', async () => {
  const [high, fine] = [fakeBenchmark({ 'http/64': [2, 2] }), fakeBenchmark({ 'http/64': [1, 1] })]
  expect([(await check([high, fine])).passed, fine.measured.length]).toEqual([false, 2])
})

test('a ratio that its benchmark does not return is an error, and a benchmark without ratios does not run', async () => {
  const other = fakeBenchmark({ 'http/64': [1] })
  await expect(check([other], ['http/64', 'http/500-tools'])).rejects.toThrow('no CPU of http/500-tools')
  expect((await check([other], ['codec/200'])).passed).toBe(true)
  expect(other.measured).toHaveLength(1)
})
