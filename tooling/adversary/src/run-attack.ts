import { setTimeout as sleep } from 'node:timers/promises'
import type { Attack, Cost, Retained, Side } from './attack.ts'
import { startTarget, type Target } from './target.ts'

/** The bounds of the ratios, the noise that the measure itself has, and the samples of each input. */
const bounds = {
  twice: 2.5,
  likeValid: 1.5,
  rejected: 5,
  heapNoise: 1024 * 1024,
  cpuNoiseMs: 0.5,
  sampleMs: 12,
  leastSamples: 3,
  mostSamples: 15,
}

/** The longest that a part of an attack may last; who has not ended then is stalled. */
const deadlineMs = 20_000

/** Outcome of an attack: what was measured, and what was wrong. */
export interface Outcome {
  readonly attack: string
  readonly seconds: number
  readonly notes: readonly string[]
  readonly problems: readonly string[]
}

/**
 * Runs attacks one after the other against a process of their own; one that an attack has harmed is replaced before the
 * next.
 */
export async function* runAttacks<P extends Disposable>(
  side: Side<P>,
  attacks: readonly Attack<P>[],
  scale: number,
): AsyncGenerator<Outcome> {
  const held: { target?: Target | undefined } = {}
  try {
    for (const attack of attacks) {
      const started = performance.now()
      const outcomes: PartOutcome[] = []
      for (const part of partsOf(side, attack, scale)) {
        held.target ??= await startTarget(side.program)
        const outcome = await runPart(part, held.target)
        held.target = 'problem' in outcome ? undefined : held.target
        outcomes.push(outcome)
      }
      const notes = outcomes.flatMap((outcome) => ('note' in outcome ? [outcome.note] : []))
      const problems = outcomes.flatMap((outcome) => ('problem' in outcome ? [outcome.problem] : []))
      yield { attack: attack.name, seconds: (performance.now() - started) / 1000, notes, problems }
    }
  } finally {
    await held.target?.[Symbol.asyncDispose]()
  }
}

type PartOutcome = { readonly note: string } | { readonly problem: string }

/** Runs one part of an attack, and ends the process when something was wrong with it. */
async function runPart([part, run]: Part, target: Target): Promise<PartOutcome> {
  try {
    return { note: await inTime(run(target)) }
  } catch (error) {
    const problem = `${part}: ${await causeOf(error, target)}`
    await target[Symbol.asyncDispose]()
    return { problem }
  }
}

/** The message of an error, or the death of the process that led to it. */
async function causeOf(error: unknown, target: Target): Promise<string> {
  const message = error instanceof Error ? error.message : String(error)
  // A stalled process never answers, one that has died rejects at once.
  const death = await Promise.race([target.cpu().then(() => '', String), sleep(500, '')])
  return death === '' || message.includes(death) ? message : `${message}; ${death}`
}

type Part = readonly [name: string, run: (target: Target) => Promise<string>]

function partsOf<P extends Disposable>(side: Side<P>, attack: Attack<P>, scale: number): readonly Part[] {
  const { cost, retained } = attack
  const parts: Part[] = [['served', (target) => beside(side, target, (peer) => harm(attack, peer, scale))]]
  if (cost !== undefined) parts.push(['cost', (target) => holdCosts(side, target, cost)])
  if (retained !== undefined) parts.push(['retained', (target) => holdRetained(side, target, retained)])
  return parts
}

/** The harm of an attack: what it does itself, else the larger of its inputs. */
async function harm<P>({ run, cost, retained }: Attack<P>, peer: P, scale: number): Promise<void> {
  await run?.(peer, scale)
  for (let time = 0; time < scale && cost !== undefined; time += 1) await cost.send(peer, cost.size * 2)
  if (retained !== undefined) await retained.hold(peer, retained.size)
}

/** The honest peer is served while the attack runs, and the memory is that of before once its connections are gone. */
async function beside<P extends Disposable>(
  side: Side<P>,
  target: Target,
  attack: (peer: P) => Promise<void>,
): Promise<string> {
  const looks: number[] = []
  let served = 0
  // The first time also compiles code and fills tables that stay, so growth is between the later ones. What did not
  // grow from the first time to the second need not be looked at again.
  for (let time = 0; time < 3 && (time < 2 || growthOf(looks) > bounds.heapNoise); time += 1) {
    const honest = await side.startHonest(target)
    {
      using peer = await side.connect(target)
      await attack(peer).finally(async () => {
        served += await honest.stop()
      })
    }
    const { bytes, sockets, polluted } = await target.memory({ sockets: 0 })
    if (polluted.length > 0) throw new Error(`Object.prototype was given ${polluted.join(', ')}`)
    if (sockets > 0) throw new Error(`${sockets} connections are open ten seconds after their peer closed them`)
    looks.push(bytes)
  }
  const growth = growthOf(looks)
  if (growth > bounds.heapNoise)
    throw new Error(`memory does not return: each attack leaves ${kilobytes(growth)} behind`)
  return `${served} honest calls`
}

/** The least growth from one look at the memory to the next. */
function growthOf(looks: readonly number[]): number {
  return Math.min(...looks.slice(1).map((bytes, index) => bytes - (looks[index] ?? 0)))
}

async function holdCosts<P extends Disposable>(side: Side<P>, target: Target, cost: Cost<P>): Promise<string> {
  using peer = await side.connect(target)
  const samplers: CostSampler[] = []
  for (const input of inputsOf(peer, cost)) samplers.push(await openCostSampler(target, input))
  let problem = ''
  for (let count = 1; count <= bounds.mostSamples; count += 1) {
    for (const sampler of samplers) await sampler.sample()
    if (count < bounds.leastSamples) continue
    const [one = 0, two = 0, valid] = samplers.map((sampler) => sampler.least())
    problem = costProblem(one, two, valid)
    if (problem === '') return costs(one, two, valid)
    // A cost this far above the bound is no noise, and measuring it again would take minutes.
    if (two > 20 * Math.max(1, valid ?? two)) break
  }
  throw new Error(problem)
}

/** An input, one of twice its size, and a valid one that compares with the latter. */
function inputsOf<P>(peer: P, { size, send, sendValid }: Cost<P>): (() => Promise<void>)[] {
  const inputs = [() => send(peer, size), () => send(peer, size * 2)]
  return sendValid === undefined ? inputs : [...inputs, () => sendValid(peer, size * 2)]
}

interface CostSampler {
  sample(): Promise<void>
  /** The least CPU time of one input so far, in milliseconds. */
  least(): number
}

async function openCostSampler(target: Target, input: () => Promise<void>): Promise<CostSampler> {
  const cpuOf = async (times: number): Promise<number> => {
    const before = await target.cpu()
    for (let time = 0; time < times; time += 1) await input()
    return ((await target.cpu()) - before) / times
  }
  // The first inputs compile code. The next ones say how many it takes until a sample is far longer than what else the
  // process does.
  await cpuOf(3)
  const times = Math.max(3, Math.min(40, Math.ceil(bounds.sampleMs / (await cpuOf(3)))))
  let least = Infinity
  return {
    sample: async () => {
      least = Math.min(least, await cpuOf(times))
    },
    least: () => least,
  }
}

function costProblem(one: number, two: number, valid: number | undefined): string {
  const measured = costs(one, two, valid)
  // An input that costs as little as a valid one is no attack, however the collector of garbage divides its work.
  const likeValid = valid !== undefined && two <= bounds.likeValid * valid
  if (two > bounds.twice * one + bounds.cpuNoiseMs && !likeValid) {
    return `twice the input costs ${(two / one).toFixed(1)} times as much, at most ${bounds.twice} is wanted (${measured})`
  }
  if (valid !== undefined && two > bounds.rejected * valid + bounds.cpuNoiseMs) {
    const ratio = `${(two / valid).toFixed(1)} times as much as accepting a valid input of its bytes`
    return `rejecting costs ${ratio}, at most ${bounds.rejected} is wanted (${measured})`
  }
  return ''
}

function costs(one: number, two: number, valid: number | undefined): string {
  const both = `${milliseconds(one)} → ${milliseconds(two)}`
  return valid === undefined ? both : `${both}, valid ${milliseconds(valid)}`
}

async function holdRetained<P extends Disposable>(
  side: Side<P>,
  target: Target,
  retained: Retained<P>,
): Promise<string> {
  const { size, hold, bytesPerUnit } = retained
  const retain = async (of: number): Promise<number> => {
    await target.memory({ sockets: 0 })
    using peer = await side.connect(target)
    const before = (await target.memory()).bytes
    await hold(peer, of)
    return (await target.memory()).bytes - before
  }
  // The first time also fills tables that stay.
  await retain(size)
  const none = await retain(0)
  const one = (await retain(size)) - none
  const two = (await retain(size * 2)) - none
  if (two > bounds.twice * one + bounds.heapNoise) {
    throw new Error(
      `twice the input retains ${kilobytes(two)}, ${(two / one).toFixed(1)} times as much; at most ${bounds.twice} is wanted`,
    )
  }
  if (two > bytesPerUnit * size * 2) {
    throw new Error(`a unit retains ${(two / size / 2).toFixed(0)} bytes, at most ${bytesPerUnit} are wanted`)
  }
  return `${(two / size / 2).toFixed(0)} bytes a unit`
}

async function inTime<T>(part: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(
      () => reject(new Error(`the process is stalled: no end after ${deadlineMs / 1000} s`)),
      deadlineMs,
    )
  })
  try {
    return await Promise.race([part, late])
  } finally {
    clearTimeout(timer)
  }
}

function milliseconds(value: number): string {
  return `${value.toFixed(value < 10 ? 2 : 0)} ms`
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1024).toFixed(0)} KiB`
}
