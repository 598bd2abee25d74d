import { expect, test } from 'vitest'
import { checkRatios, type GatedRatio } from './gate.ts'
import type { RatioBenchmark, RatioId, Reading, Timing } from './ratios.ts'

const timing: Timing = { rounds: 1, seconds: 1, warmUp: 1 }
const longer: Timing = { rounds: 2, seconds: 2, warmUp: 2 }
const gated: readonly GatedRatio[] = [
  { id: 'http/64', today: 1.5 },
  { id: 'http/500-tools', today: 1 },
]

/** A benchmark that returns given ratios of CPU, one for each run, and records the options of its runs. */
function fakeBenchmark(
  figures: Readonly<Partial<Record<RatioId, readonly number[]>>>,
): RatioBenchmark & { readonly runs: unknown[] } {
  const table = new Map(Object.entries(figures))
  const runs: unknown[] = []
  return {
    runs,
    ids: ['http/64', 'http/500-tools', 'list/1'] as const,
    measure: async ({ only = [], timing }) => {
      const run = runs.push({ only, timing }) - 1
      return only.flatMap((id): readonly Reading[] => {
        const cpu = table.get(id)?.[run]
        return cpu === undefined ? [] : [{ id, value: 0.1, cpu, ours: '7/s', floor: '10/s' }]
      })
    },
  }
}

async function check(benchmarks: readonly RatioBenchmark[], ratios = gated) {
  const lines: string[] = []
  const passed = await checkRatios(benchmarks, { gated: ratios, timing, longer, print: (line) => lines.push(line) })
  return { passed, lines }
}

test("ratios at today's value pass, and are measured once", async () => {
  const benchmark = fakeBenchmark({ 'http/64': [1.5], 'http/500-tools': [1] })
  expect((await check([benchmark])).passed).toBe(true)
  expect(benchmark.runs).toEqual([{ only: ['http/64', 'http/500-tools'], timing }])
})

test.each([
  ['within a fifth of it passes', 1.79, true],
  ['beyond it fails', 1.81, false],
  ['that is not a number fails', Number.NaN, false],
])('a ratio %s', async (_, cpu, passed) => {
  const result = await check([fakeBenchmark({ 'http/64': [cpu, cpu], 'http/500-tools': [1] })])
  expect(result.passed).toBe(passed)
  expect(result.lines.filter((line) => line.startsWith('FAILED http/64'))).toHaveLength(passed ? 0 : 1)
  expect(result.lines.join('\n')).toContain(`CPU ${cpu.toFixed(2)} x the floor's  today 1.50, at most 1.80`)
})

test('a ratio above its limit is measured again alone and for longer, which decides', async () => {
  const benchmark = fakeBenchmark({ 'http/64': [2, 1.5], 'http/500-tools': [1] })
  expect((await check([benchmark])).passed).toBe(true)
  expect(benchmark.runs).toEqual([
    { only: ['http/64', 'http/500-tools'], timing },
    { only: ['http/64'], timing: longer },
  ])
})

test('every benchmark runs, also after one that failed', async () => {
  const [high, fine] = [fakeBenchmark({ 'http/64': [2, 2] }), fakeBenchmark({ 'http/64': [1, 1] })]
  expect([(await check([high, fine], gated.slice(0, 1))).passed, fine.runs.length]).toEqual([false, 2])
})

test('a ratio that its benchmark does not return is an error, not a pass', async () => {
  await expect(check([fakeBenchmark({ 'http/64': [1] })])).rejects.toThrow('no CPU of http/500-tools')
})

test('a benchmark without ratios to check does not run', async () => {
  const benchmark = fakeBenchmark({})
  expect((await check([benchmark], [{ id: 'codec/200', today: 1 }])).passed).toBe(true)
  expect(benchmark.runs).toEqual([])
})
