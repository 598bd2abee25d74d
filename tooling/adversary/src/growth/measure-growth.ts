/** A parser of the bytes of a peer, whose work is measured up to its bound. */
export interface MeasuredParser {
  readonly name: string
  /** The largest size that it accepts. Bytes, unless `unit` says what else. */
  readonly bound: number
  readonly unit?: string
  /** Makes an input of a size, and returns the function that parses it. An input may be rejected. */
  readonly prepare: (size: number) => (() => unknown) | Promise<() => unknown>
}

/** What was measured of one parser. */
export interface Growth {
  /** Milliseconds of an input at the bound. */
  readonly ms: number
  /** The power of the size with which the time grows. 1 is linear. */
  readonly exponent: number
}

/** A sample is at least so long, so that neither the clock nor one garbage collection decides about it. */
const minSampleMs = 50
const sampleCount = 5
const doublings = 2

/** The largest exponent. `n log n` has one of about 1.1 at these sizes, and quadratic work one of 2. */
export const maxExponent = 1.5

/**
 * Measures a parser at a quarter of its bound, at half of it and at the bound: the smallest of five samples each. The
 * exponent is the smaller one of the two doublings. Quadratic work has 2 in both, and the step of a processor whose
 * caches are full, which is high if other processes fill them too, is in one.
 */
export async function measureGrowth({ bound, prepare }: MeasuredParser): Promise<Growth> {
  const inputs: (() => unknown)[] = []
  for (let left = doublings; left >= 0; left -= 1) inputs.push(await prepare(Math.floor(bound / 2 ** left)))
  const repetitions: number[] = []
  for (const input of inputs) repetitions.push(await countRepetitions(input))
  const least = inputs.map(() => Infinity)
  // In turns, so that a slow moment of the machine meets every size.
  for (let sample = 0; sample < sampleCount; sample += 1) {
    for (const [index, input] of inputs.entries()) {
      const times = repetitions[index] ?? 1
      least[index] = Math.min(least[index] ?? Infinity, (await timeOf(input, times)) / times)
    }
  }
  const exponents = least.slice(1).map((ms, index) => Math.log2(ms / (least[index] ?? 0)))
  return { ms: least.at(-1) ?? 0, exponent: Math.min(...exponents) }
}

/** Returns how often an input is parsed in one sample. Also compiles the code. */
async function countRepetitions(input: () => unknown): Promise<number> {
  let times = 1
  for (let ms = await timeOf(input, times); ms < minSampleMs; ms = await timeOf(input, times)) {
    times *= Math.max(2, Math.min(10, Math.ceil(minSampleMs / Math.max(ms, 1))))
  }
  return times
}

/** Returns the CPU time of parsing an input so often, in milliseconds. Other processes of the machine take none of it. */
async function timeOf(input: () => unknown, times: number): Promise<number> {
  const started = process.cpuUsage()
  for (let time = 0; time < times; time += 1) {
    try {
      await input()
    } catch {
      // A rejected input costs its peer's victim time as well.
    }
  }
  const { user, system } = process.cpuUsage(started)
  return (user + system) / 1000
}
