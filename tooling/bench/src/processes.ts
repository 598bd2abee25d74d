import { type ChildProcess, fork, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { availableParallelism } from 'node:os'
import { createInterface } from 'node:readline'
import { setImmediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

/** A program of this package in a process of its own. It answers every question with exactly one message. */
export interface Program<Question, Answer> {
  ask(question: Question): Promise<Answer>
  /** Kills the process by its id. */
  stop(): Promise<void>
}

/** The programs of a file, which `startProgram` runs in processes of their own. Arguments follow the name. */
export type Programs = Readonly<Record<string, (...args: string[]) => unknown>>

/** A server in a process of its own. */
export interface RunningServer {
  readonly url: string
  /** Returns the microseconds of CPU that the process has used. */
  cpu(): Promise<number>
  stop(): Promise<void>
}

const canPin = availableParallelism() > 1 && spawnSync('taskset', ['--version']).status === 0

/** States in the header of a report whether each process runs on one core. */
export const pinning = canPin ? 'server on core 0, load on core 1' : 'not pinned: taskset or a second core is missing'

/** Pins a process with all of its threads to one core, and leaves its channels open. */
export function pinProcess(processId: number | undefined, core: 0 | 1): void {
  if (canPin) spawnSync('taskset', ['--all-tasks', '--pid', '--cpu-list', String(core), String(processId)])
}

/**
 * Starts a program on one core.
 *
 * @param name The file of the program, its name in `programs` of that file, and its argument: `http/tools/500`.
 */
export async function startProgram<Question extends object | string, Answer>(
  name: string,
  core: 0 | 1,
  environment: NodeJS.ProcessEnv = {},
): Promise<Program<Question, Answer>> {
  const env = { ...process.env, ...environment }
  const main = fileURLToPath(new URL('main.js', import.meta.url))
  const child = fork(main, ['--program', name], { execArgv: ['--conditions=dist'], env })
  pinProcess(child.pid, core)
  await once(child, 'spawn')
  return { ask: (question) => ask(child, question), stop: () => stopProcess(child) }
}

/** Answers the questions of the benchmark, until its process ends. */
export function answerQuestions<Question, Answer>(answer: (question: Question) => Answer | Promise<Answer>): void {
  process.once('disconnect', () => process.exit())
  process.on('message', (question: Question) => {
    // The benchmark waits for an answer, so a failure ends the process.
    void Promise.resolve(answer(question)).then((given) => process.send?.(given))
  })
}

function ask<Answer>(child: ChildProcess, question: object | string): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const ended = (code: number | null): void => reject(new Error(`process ${child.pid} ended with code ${code}`))
    child.once('exit', ended)
    child.once('message', (answer) => {
      child.off('exit', ended)
      // This package compiles both ends of the channel, so the answer has the type that the caller names.
      resolve(answer as Answer)
    })
    child.send(question)
  })
}

/** Ends a process, and waits until it has ended. */
export async function stopProcess(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill(signal)
  await ended
}

/** A question of the benchmark to a server: its use of CPU and memory, also when no connection is open, or a change. */
export type ServerQuestion = 'usage' | 'memory' | 'idle memory' | 'change'

/** What the process of a server has used. */
export interface Usage {
  readonly url: string
  /** Microseconds of CPU, user and system. */
  readonly cpu: number
  /** Bytes of heap, after full collections if the question was for memory. */
  readonly heapBytes: number
  readonly residentBytes: number
  readonly peakBytes: number
}

/** A server of this package, which reports its CPU and memory. */
export interface MeasuredServer extends RunningServer {
  ask(question: ServerQuestion): Promise<Usage>
}

/** Starts a server of this package on one core, and waits until it listens. */
export async function startServer(
  name: string,
  core: 0 | 1 = 0,
  environment: NodeJS.ProcessEnv = {},
): Promise<MeasuredServer> {
  const program = await startProgram<ServerQuestion, Usage>(name, core, environment)
  const { url } = await program.ask('usage')
  return { ...program, url, cpu: async () => (await program.ask('usage')).cpu }
}

/** Listens on a free port, and reports CPU and memory to the benchmark. */
export async function serveMeasured(server: Server, change: () => void = () => {}): Promise<void> {
  let connections = 0
  server.on('connection', (socket) => {
    connections += 1
    socket.once('close', () => {
      connections -= 1
      if (connections === 0) server.emit('idle')
    })
  })
  server.listen({ port: 0, host: '127.0.0.1', backlog: 4096 })
  await once(server, 'listening')
  // A server that listens on a port has an address of this type.
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`
  answerQuestions(async (question: ServerQuestion): Promise<Usage> => {
    if (question === 'change') change()
    if (question === 'idle memory' && connections > 0) await once(server, 'idle')
    if (question !== 'usage' && question !== 'change') await collectGarbage()
    const { user, system } = process.cpuUsage()
    const { heapUsed, rss } = process.memoryUsage()
    const peakBytes = process.resourceUsage().maxRSS * 1024
    return { url, cpu: user + system, heapBytes: heapUsed, residentBytes: rss, peakBytes }
  })
}

let collect: (() => void) | undefined

/** Collects all garbage. Node needs no flag for it. */
export async function collectGarbage(): Promise<void> {
  if (collect === undefined) setFlagsFromString('--expose-gc')
  const gc: () => void = (collect ??= runInNewContext('gc'))
  for (let round = 0; round < 4; round += 1) {
    // Timers and the callbacks of finalizers run before the next collection.
    await setImmediate()
    gc()
  }
}

/** A program that prints the port of its server, such as one in the folder of an install. */
export interface PrintingProgram {
  readonly folder: string
  readonly file: string
  readonly arguments?: readonly string[]
  /** The core of its process. Default: any. */
  readonly core?: 0 | 1
}

/** Starts a program that prints its port. */
export async function startPrinting(program: PrintingProgram): Promise<RunningServer> {
  const { folder, file, arguments: given = [], core } = program
  const child = spawn(process.execPath, [...given, file], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '' },
  })
  if (core !== undefined) pinProcess(child.pid, core)
  // Some implementations log other lines before.
  for await (const line of createInterface({ input: child.stdout })) {
    if (!/^\d+$/.test(line)) continue
    // A program that logs each request must not wait for a reader.
    child.stdout.resume()
    const cpu = (): Promise<number> => cpuOfProcess(child.pid)
    return { url: `http://127.0.0.1:${line}/mcp`, cpu, stop: () => stopProcess(child) }
  }
  throw new Error(`${file} ended before it printed its port`)
}

/** Returns the microseconds of CPU of all threads of a process, which Linux counts. */
async function cpuOfProcess(pid: number | undefined): Promise<number> {
  const folder = `/proc/${pid}/task`
  const threads = await readdir(folder)
  const texts = await Promise.all(threads.map((id) => readFile(`${folder}/${id}/schedstat`, 'utf8').catch(() => '0')))
  return texts.reduce((sum, text) => sum + Number.parseInt(text, 10), 0) / 1000
}
