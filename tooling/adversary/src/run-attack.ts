import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack, Cost, Retained, Side } from './attack.ts'
import { startTarget, type Target } from './target.ts'

/** The bounds of the ratios, the noise of the measurements, and the samples of each input. */
const bounds = {
  maxRatio: 2.5,
  likeValid: 1.5,
  rejected: 5,
  heapNoise: 1024 * 1024,
  cpuNoiseMs: 0.5,
  sampleMs: 12,
  minSamples: 3,
  maxSamples: 15,
}

/** A process that answers no question for so long is stalled. A part of an attack may take longer on a busy machine. */
const stallMs = 20_000

/** A part that does not end in so many times that time never does, although the process answers. */
const maxTurns = 6

/** The outcome of an attack: notes with measurements, and problems. */
export interface Outcome {
  readonly attack: string
  readonly seconds: number
  readonly notes: readonly string[]
  readonly problems: readonly string[]
}

/** Runs attacks one after the other against one process. A process in which a part failed is replaced. */
export async function* runAttacks<P extends Disposable>(
  side: Side<P>,
  attacks: readonly Attack<P>[],
  scale: number,
): AsyncGenerator<Outcome> {
  const current: { target?: Target | undefined } = {}
  try {
    for (const attack of attacks) {
      const started = performance.now()
      const outcomes: PartOutcome[] = []
      for (const part of partsOf(side, attack, scale)) {
        current.target ??= await startTarget(side.program)
        const outcome = await runPart(part, current.target)
        current.target = 'problem' in outcome ? undefined : current.target
        outcomes.push(outcome)
      }
      const notes = outcomes.flatMap((outcome) => ('note' in outcome ? [outcome.note] : []))
      const problems = outcomes.flatMap((outcome) => ('problem' in outcome ? [outcome.problem] : []))
      yield { attack: attack.name, seconds: (performance.now() - started) / 1000, notes, problems }
    }
  } finally {
    await current.target?.[Symbol.asyncDispose]()
  }
}

type PartOutcome = { readonly note: string } | { readonly problem: string }

/** Runs one part of an attack, and ends the process if the part failed. */
async function runPart([part, run]: Part, target: Target): Promise<PartOutcome> {
  try {
    return { note: await endOf(run(target), target) }
  } catch (error) {
    const problem = `${part}: ${await causeOf(error, target)}`
    await target[Symbol.asyncDispose]()
    return { problem }
  }
}

/** Returns the message of an error, with the exit of the process if that caused it. */
async function causeOf(error: unknown, target: Target): Promise<string> {
  const message = error instanceof Error ? error.message : String(error)
  // A stalled process never answers. A question to an ended process rejects at once.
  const exit = await Promise.race([target.cpu().then(() => '', String), sleep(500, '')])
  return exit === '' || message.includes(exit) ? message : `${message}; ${exit}`
}

type Part = readonly [name: string, run: (target: Target) => Promise<string>]

function partsOf<P extends Disposable>(side: Side<P>, attack: Attack<P>, scale: number): readonly Part[] {
  const { cost, retained } = attack
  const parts: Part[] = [
    ['served', (target) => checkServed(side, target, (peer) => performAttack(attack, peer, scale))],
  ]
  if (cost !== undefined) parts.push(['cost', (target) => checkCosts(side, target, cost)])
  if (retained !== undefined) parts.push(['retained', (target) => checkRetained(side, target, retained)])
  return parts
}

/** Runs the attack itself, and sends the larger one of its inputs. */
async function performAttack<P>({ run, cost, retained }: Attack<P>, peer: P, scale: number): Promise<void> {
  await run?.(peer, scale)
  for (let time = 0; time < scale && cost !== undefined; time += 1) await cost.send(peer, cost.size * 2)
  if (retained !== undefined) await retained.retain(peer, retained.size)
}

/** Checks that the process serves the honest peer during the attack, and frees the memory of the attack afterwards. */
async function checkServed<P extends Disposable>(
  side: Side<P>,
  target: Target,
  attack: (peer: P) => Promise<void>,
): Promise<string> {
  const measurements: number[] = []
  let served = 0
  // The first attack also compiles code and fills permanent tables. A third attack follows only if the memory grew from
  // the first to the second one.
  for (let time = 0; time < 3 && (time < 2 || growthOf(measurements) > bounds.heapNoise); time += 1) {
    const honest = await side.startHonest(target)
    {
      using peer = await side.connect(target)
      await attack(peer).finally(async () => {
        served += await honest.stop()
      })
    }
    const { bytes, sockets, polluted } = await target.memory({ sockets: 0 })
    if (polluted.length > 0) throw new Error(`Object.prototype has new properties: ${polluted.join(', ')}`)
    if (sockets > 0) throw new Error(`${sockets} connections are open ten seconds after their peer closed them`)
    measurements.push(bytes)
  }
  const growth = growthOf(measurements)
  if (growth > bounds.heapNoise) throw new Error(`memory is not freed: each attack leaves ${kilobytes(growth)}`)
  return `${served} honest calls`
}

/** Returns the smallest growth between two consecutive measurements of the memory. */
function growthOf(measurements: readonly number[]): number {
  return Math.min(...measurements.slice(1).map((bytes, index) => bytes - (measurements[index] ?? 0)))
}

async function checkCosts<P extends Disposable>(side: Side<P>, target: Target, cost: Cost<P>): Promise<string> {
  using peer = await side.connect(target)
  const samplers: CostSampler[] = []
  for (const input of inputsOf(peer, cost)) samplers.push(await openCostSampler(target, input))
  let problem = ''
  for (let count = 1; count <= bounds.maxSamples; count += 1) {
    for (const sampler of samplers) await sampler.sample()
    if (count < bounds.minSamples) continue
    const [one = 0, two = 0, valid] = samplers.map((sampler) => sampler.min())
    problem = costProblem(one, two, valid)
    if (problem === '') return costs(one, two, valid)
    // A cost so far above the bound is not noise, and more samples would take minutes.
    if (two > 20 * Math.max(1, valid ?? two)) break
  }
  throw new Error(problem)
}

/** Returns an input, an input of twice its size, and a valid input with the bytes of the latter. */
function inputsOf<P>(peer: P, { size, send, sendValid }: Cost<P>): (() => Promise<void>)[] {
  const inputs = [() => send(peer, size), () => send(peer, size * 2)]
  return sendValid === undefined ? inputs : [...inputs, () => sendValid(peer, size * 2)]
}

interface CostSampler {
  sample(): Promise<void>
  /** Returns the smallest CPU time of one input so far, in milliseconds. */
  min(): number
}

async function openCostSampler(target: Target, input: () => Promise<void>): Promise<CostSampler> {
  const cpuOf = async (times: number): Promise<number> => {
    const before = await target.cpu()
    for (let time = 0; time < times; time += 1) await input()
    return ((await target.cpu()) - before) / times
  }
  // The first inputs compile code. The next ones determine the number of inputs per sample, so that a sample is much
  // longer than the other work of the process.
  await cpuOf(3)
  const times = Math.max(3, Math.min(40, Math.ceil(bounds.sampleMs / (await cpuOf(3)))))
  let min = Infinity
  return {
    sample: async () => {
      min = Math.min(min, await cpuOf(times))
    },
    min: () => min,
  }
}

function costProblem(one: number, two: number, valid: number | undefined): string {
  const measured = costs(one, two, valid)
  // An input as cheap as a valid one is not an attack. Garbage collection can distort the ratio of such small costs.
  const likeValid = valid !== undefined && two <= bounds.likeValid * valid
  if (two > bounds.maxRatio * one + bounds.cpuNoiseMs && !likeValid) {
    return `twice the input costs ${(two / one).toFixed(1)} times as much; the limit is ${bounds.maxRatio} (${measured})`
  }
  if (valid !== undefined && two > bounds.rejected * valid + bounds.cpuNoiseMs) {
    const ratio = `${(two / valid).toFixed(1)} times as much as a valid input of the same bytes`
    return `a rejected input costs ${ratio}; the limit is ${bounds.rejected} (${measured})`
  }
  return ''
}

function costs(one: number, two: number, valid: number | undefined): string {
  const both = `${milliseconds(one)} → ${milliseconds(two)}`
  return valid === undefined ? both : `${both}, valid ${milliseconds(valid)}`
}

async function checkRetained<P extends Disposable>(
  side: Side<P>,
  target: Target,
  retained: Retained<P>,
): Promise<string> {
  const { size, retain, bytesPerUnit } = retained
  const retainedBytes = async (of: number): Promise<number> => {
    await target.memory({ sockets: 0 })
    using peer = await side.connect(target)
    const before = (await target.memory()).bytes
    await retain(peer, of)
    return (await target.memory()).bytes - before
  }
  // The first input also fills permanent tables.
  await retainedBytes(size)
  const none = await retainedBytes(0)
  const one = (await retainedBytes(size)) - none
  const two = (await retainedBytes(size * 2)) - none
  if (two > bounds.maxRatio * one + bounds.heapNoise) {
    throw new Error(
      `twice the input retains ${kilobytes(two)}, ${(two / one).toFixed(1)} times as much; the limit is ${bounds.maxRatio}`,
    )
  }
  if (two > bytesPerUnit * size * 2) {
    throw new Error(`a unit retains ${(two / size / 2).toFixed(0)} bytes; the limit is ${bytesPerUnit}`)
  }
  return `${(two / size / 2).toFixed(0)} bytes per unit`
}

async function endOf<T>(part: Promise<T>, target: Target): Promise<T> {
  for (let turn = 0; turn < maxTurns; turn += 1) {
    const end = await endWithin(stallMs, part)
    if (end !== undefined) return end.value
    if ((await endWithin(stallMs, target.cpu())) === undefined)
      throw new Error(`the process is stalled: it has not answered a question for ${stallMs / 1000} s`)
  }
  throw new Error(`the attack did not end after ${(maxTurns * stallMs) / 1000} s, although the process answers`)
}

async function endWithin<T>(ms: number, promise: Promise<T>): Promise<{ readonly value: T } | undefined> {
  const timer = new AbortController()
  try {
    return await Promise.race([promise.then((value) => ({ value })), sleep(ms, undefined, { signal: timer.signal })])
  } finally {
    timer.abort()
  }
}

function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 0)} ms`
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(0)} KiB`
}
