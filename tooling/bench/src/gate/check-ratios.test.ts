import { expect, test } from 'vitest'
import type { RatioBenchmark, Timing } from '../benchmark.ts'
import type { RatioId, Reading } from '../wanted.ts'
import { type CheckOptions, checkRatios } from './check-ratios.ts'

const short: Timing = { rounds: 1, seconds: 1, warmUp: 1 }
const long: Timing = { rounds: 2, seconds: 2, warmUp: 2 }

const reading = (id: RatioId, value: number): Reading => ({ id, value, ours: '7/s', floor: '10/s' })

/** A benchmark that returns given figures, one for each run, and records the options of its runs. */
function fakeBenchmark(
  figures: Readonly<Partial<Record<RatioId, readonly number[]>>>,
): RatioBenchmark & { readonly runs: unknown[] } {
  const table = new Map(Object.entries(figures))
  const runs: unknown[] = []
  return {
    runs,
    ids: ['http/64', 'http/tail', 'list/1'] as const,
    measure: async ({ only = [], timing }) => {
      const run = runs.push({ only, timing }) - 1
      return only.flatMap((id) => {
        const value = table.get(id)?.[run]
        return value === undefined ? [] : [reading(id, value)]
      })
    },
  }
}

async function check(benchmark: RatioBenchmark, ids: CheckOptions['ids'] = ['http/64', 'http/tail']) {
  const lines: string[] = []
  let pauses = 0
  const pause = async () => void (pauses += 1)
  const passed = await checkRatios([benchmark], {
    ids,
    short,
    long,
    again: 2,
    pause,
    print: (line) => lines.push(line),
  })
  return { passed, pauses, failures: lines.filter((line) => line.startsWith('FAILED')) }
}

test('ratios that reach their wanted values pass, and are measured once', async () => {
  const benchmark = fakeBenchmark({ 'http/64': [0.85], 'http/tail': [1.1] })
  expect(await check(benchmark)).toMatchObject({ passed: true, failures: [] })
  expect(benchmark.runs).toEqual([{ only: ['http/64', 'http/tail'], timing: short }])
})

test('ratios within a fifth of their wanted values pass', async () => {
  expect((await check(fakeBenchmark({ 'http/64': [0.65], 'http/tail': [1.6] }))).passed).toBe(true)
})

test.each([
  [
    'too little',
    { 'http/64': [0.5, 0.52, 0.51], 'http/tail': [1] },
    'FAILED http/64: 0.51 (7/s, floor 10/s); wanted is >= 0.90',
  ],
  [
    'too much',
    { 'http/64': [1], 'http/tail': [2, 2.2, 2.1] },
    'FAILED http/tail: 2.10 (7/s, floor 10/s); wanted is <= 1.30',
  ],
  ['no number', { 'http/64': [1], 'http/tail': [Number.NaN, Number.NaN, Number.NaN] }, 'FAILED http/tail: NaN'],
])(
  'a ratio that is %s in every measurement fails, and a line shows it with its wanted value',
  async (_name, figures, line) => {
    const { passed, failures } = await check(fakeBenchmark(figures))
    expect(passed).toBe(false)
    expect(failures).toHaveLength(1)
    expect(failures[0]).toContain(line)
  },
)

test('a ratio that failed is measured again alone after a pause with longer rounds, and passes if it recovers', async () => {
  const benchmark = fakeBenchmark({ 'http/64': [0.5, 0.5, 0.9], 'http/tail': [1] })
  expect(await check(benchmark)).toEqual({ passed: true, pauses: 2, failures: [] })
  expect(benchmark.runs).toEqual([
    { only: ['http/64', 'http/tail'], timing: short },
    { only: ['http/64'], timing: long },
    { only: ['http/64'], timing: long },
  ])
})

test('every benchmark runs, also after one that failed', async () => {
  const [low, fine] = [fakeBenchmark({ 'http/64': [0.1] }), fakeBenchmark({ 'http/64': [0.9] })]
  const options = { ids: ['http/64'], short, long, again: 0, pause: async () => {}, print: () => {} } as const
  expect([await checkRatios([low, fine], options), fine.runs.length]).toEqual([false, 1])
})

test('a ratio that its benchmark does not return is an error, not a pass', async () => {
  await expect(check(fakeBenchmark({ 'http/64': [0.9] }))).rejects.toThrow('no reading of http/tail')
})

test('a benchmark without ratios to check does not run', async () => {
  const benchmark = fakeBenchmark({})
  expect((await check(benchmark, ['codec/200'])).passed).toBe(true)
  expect(benchmark.runs).toEqual([])
})
