import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { type Call, echoCall } from '../http/call.ts'

/** The time of a process to its first right response. */
export interface Start {
  readonly milliseconds: number
  /** Milliseconds of CPU of all threads until then. Undefined if the system does not report them. */
  readonly cpuMilliseconds?: number | undefined
}

/** A server that has returned its first right response. */
export interface Started {
  readonly child: ChildProcess
  readonly url: string
  readonly start: Start
}

/** The program of a server, and the options of its process. */
export interface Program {
  readonly folder: string
  readonly file: string
  readonly arguments?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** The first request. Default: the call of the echo tool in the current revision. */
  readonly call?: Call
}

/**
 * Starts a server that prints its port, and calls its tool once.
 *
 * @throws Error for a wrong response, or when the process ends before it responds.
 */
export async function startServer(program: Program): Promise<Started> {
  const { call = echoCall } = program
  const started = performance.now()
  const child = spawn(process.execPath, [...(program.arguments ?? []), program.file], {
    cwd: program.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '', ...program.environment },
  })
  try {
    const url = `http://127.0.0.1:${await portOf(child.stdout, program.file)}/mcp`
    // A program that logs each request must not wait for a reader.
    child.stdout.resume()
    const text = await send(call, url)
    const milliseconds = performance.now() - started
    if (!text.includes(call.expected)) throw new Error(`${program.file} is wrong: it answered ${text.slice(0, 500)}`)
    return { child, url, start: { milliseconds, cpuMilliseconds: await cpuMillisecondsOf(child.pid) } }
  } catch (error) {
    await stopServer(child)
    throw error
  }
}

/** Ends the process of a server, and waits until it has ended. */
export async function stopServer(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'close')
  child.kill(signal)
  await ended
}

async function portOf(stdout: Readable, file: string): Promise<number> {
  // Some implementations log other lines before.
  for await (const line of createInterface({ input: stdout })) if (/^\d+$/.test(line)) return Number(line)
  throw new Error(`${file} ended before it printed its port`)
}

function send({ body, headers }: Call, url: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const length = { 'content-length': Buffer.byteLength(body) }
    const message = request(url, { method: 'POST', agent: false, headers: { ...headers, ...length } })
    message.once('error', reject)
    message.once('response', (response) => {
      const chunks: Buffer[] = []
      response.once('error', reject)
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('end', () => resolve(Buffer.concat(chunks).toString()))
    })
    message.end(body)
  })
}

/**
 * Returns the milliseconds of CPU of all threads of a process. Linux counts the nanoseconds of each thread. Other
 * systems have no such file, and the result is undefined.
 */
export async function cpuMillisecondsOf(pid: number | undefined): Promise<number | undefined> {
  const folder = `/proc/${pid}/task`
  const threads = await readdir(folder).catch(() => [])
  const texts = await Promise.all(threads.map((id) => readFile(`${folder}/${id}/schedstat`, 'utf8').catch(() => '0')))
  const nanoseconds = texts.reduce((sum, text) => sum + Number.parseInt(text, 10), 0)
  return nanoseconds > 0 ? nanoseconds / 1e6 : undefined
}
