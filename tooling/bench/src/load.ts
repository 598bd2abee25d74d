import { measureRounds, type Round } from './alternating.ts'
import type { Call } from './calls.ts'
import { type HttpResponse, openConnection } from './connection.ts'
import { answerQuestions } from './peers/serve-measured.ts'
import {
  type MeasuredServer,
  type Program,
  type Programs,
  startProgram,
  type StartOptions,
  startServer,
  stopAll,
} from './processes.ts'
import type { CpuMeasurement, MeasureTime, Timing } from './ratios.ts'

/** A question of the benchmark to a load. */
export interface LoadQuestion {
  readonly url: string
  readonly call: Call
  /** The number of users, who each have a connection and one call at a time. */
  readonly users: number
  readonly seconds: number
}

/** The measurements of a load. */
export interface LoadAnswer {
  readonly calls: number
  /** The requests of the calls, which have the rate and the times. */
  readonly requests: number
  readonly perSecond: number
  readonly medianMilliseconds: number
  readonly p99Milliseconds: number
}

/** A process that sends calls. A wrong response ends it, because a server that fails is fast. */
export type Load = Program<LoadQuestion, LoadAnswer>

/** Starts a load on core 1. */
export function startLoad(program = 'load/calls'): Promise<Load> {
  return startProgram(program, { core: 1 })
}

/** The measurement of a server under load. */
export type CallMeasurement = LoadAnswer & CpuMeasurement

export const rateColumn = { unit: '/s', of: (one: Pick<LoadAnswer, 'perSecond'>): number => one.perSecond, digits: 0 }

/** A server with the call that it answers, and the process that sends it. */
export interface Target extends MeasuredServer {
  readonly name: string
  readonly call: Call
  readonly load: Load
}

/** Starts a server, and checks its response to the call. */
export async function startTarget(
  program: string,
  rest: Pick<Target, 'name' | 'call' | 'load'>,
  options?: StartOptions,
): Promise<Target> {
  const server = await startServer(program, options)
  await checkAnswer(server, rest.call)
  return { ...server, ...rest }
}

/** Throws unless a server returns the right response to a call. */
export async function checkAnswer({ url }: MeasuredServer, call: Call): Promise<void> {
  const user = openUser({ url, call })
  await user.call()
  user.close()
}

/** How long a load runs, in seconds of the clock or of the server's CPU, and for how many users. */
export type LoadTime = MeasureTime & Pick<LoadQuestion, 'users'>

/** Sends the call of a target, and returns the CPU that its server used for each request. */
export function measureCalls({ load, url, call, cpu }: Target, time: LoadTime): Promise<CallMeasurement> {
  return measureSlices(cpu, time, (seconds) => load.ask({ url, call, users: time.users, seconds }))
}

/** Runs a load for some seconds of the clock, or in slices for seconds of the CPU of a server. */
export async function measureSlices<Seen extends Pick<LoadAnswer, 'requests'>>(
  cpu: () => Promise<number>,
  { unit, seconds }: MeasureTime,
  run: (seconds: number) => Promise<Seen>,
): Promise<Seen & CpuMeasurement> {
  const before = await cpu()
  let requests = 0
  for (;;) {
    const seen = await run(unit === 'cpu' ? 0.25 : seconds)
    requests += seen.requests
    const used = (await cpu()) - before
    if (unit !== 'cpu' || used >= seconds * 1e6) return { ...seen, cpu: used / requests }
  }
}

/** Warms up targets, measures their calls in alternating rounds, and stops them with their loads. */
export async function measureTargets(
  targets: readonly Target[],
  { rounds, warmUp, ...time }: Timing & LoadTime,
): Promise<readonly Round<CallMeasurement>[]> {
  try {
    for (const target of targets) await measureCalls(target, { ...time, seconds: warmUp })
    return await measureRounds(targets, rounds, (target) => measureCalls(target, time))
  } finally {
    await stopTargets(targets)
  }
}

/** Stops targets with their loads. */
export async function stopTargets(targets: readonly Target[]): Promise<void> {
  await stopAll(targets.flatMap((target) => [target, target.load]))
}

/** A user, who repeats a call or several requests that belong together. */
export interface User {
  /** Returns the milliseconds of each request, and throws for a wrong response. */
  call(): Promise<readonly number[]>
  close(): void
}

/** Runs the users of a load for each question. */
export function serveLoad(open: (question: LoadQuestion, index: number) => User | Promise<User>): void {
  answerQuestions(async (question: LoadQuestion): Promise<LoadAnswer> => {
    const times: number[] = []
    let calls = 0
    const started = performance.now()
    const runUser = async (_: unknown, index: number): Promise<void> => {
      const user = await open(question, index)
      while (performance.now() < started + question.seconds * 1000) {
        times.push(...(await user.call()))
        calls += 1
      }
      user.close()
    }
    await Promise.all(Array.from({ length: question.users }, runUser))
    const perSecond = (times.length * 1000) / (performance.now() - started)
    const sorted = Float64Array.from(times).sort()
    const at = (share: number): number => sorted[Math.floor(sorted.length * share)] ?? Number.NaN
    return { calls, requests: times.length, perSecond, medianMilliseconds: at(0.5), p99Milliseconds: at(0.99) }
  })
}

/** The load that repeats one request. */
export const programs: Programs = { calls: () => serveLoad(openUser) }

/** Opens a user who repeats one request. */
export function openUser({ url, call: { headers, body, expected } }: Pick<LoadQuestion, 'url' | 'call'>): User {
  const connection = openConnection(url, headers)
  return {
    async call() {
      const sent = performance.now()
      const response = await connection.send({ body })
      const milliseconds = performance.now() - sent
      if (response.status === 200 && response.body.includes(expected)) return [milliseconds]
      throw wrongAnswer(response)
    },
    close: connection.close,
  }
}

/** Creates the error for a wrong response. */
export function wrongAnswer({ status, body }: HttpResponse): Error {
  return new Error(`a server is wrong: it answered ${status} ${body.slice(0, 500)}`)
}

/** Returns the message of a body: the body itself, or the last event of a stream. */
export function messageIn(body: string): string {
  if (body.startsWith('{')) return body
  const last = body.lastIndexOf('data: {')
  return last === -1 ? '{}' : body.slice(last + 'data: '.length)
}
