import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdir, readFile } from 'node:fs/promises'
import { request } from 'node:http'
import { createInterface } from 'node:readline'
import type { Readable } from 'node:stream'
import { echoCall } from '../http/call.ts'

/** How long a process took to its first right answer. */
export interface Start {
  readonly milliseconds: number
  /** Milliseconds of CPU that all of its threads took until then; nothing where the system does not tell. */
  readonly cpuMilliseconds?: number | undefined
}

/** A server that has given its first right answer. */
export interface Started {
  readonly child: ChildProcess
  readonly start: Start
}

/** Where a server's program lies, and how its process is started. */
export interface Program {
  readonly folder: string
  readonly file: string
  readonly arguments?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
}

/**
 * Starts a server that prints its port, and calls its tool once.
 *
 * @throws Error when the answer is not the right one, or the process ends before it.
 */
export async function startServer(program: Program): Promise<Started> {
  const started = performance.now()
  const child = spawn(process.execPath, [...(program.arguments ?? []), program.file], {
    cwd: program.folder,
    stdio: ['ignore', 'pipe', 'inherit'],
    env: { ...process.env, NODE_OPTIONS: '', ...program.environment },
  })
  try {
    const text = await callEcho(await portOf(child.stdout, program.file))
    const milliseconds = performance.now() - started
    if (!text.includes(echoCall.expected))
      throw new Error(`${program.file} is wrong: it answered ${text.slice(0, 500)}`)
    return { child, start: { milliseconds, cpuMilliseconds: await cpuOf(child.pid) } }
  } catch (error) {
    await stopServer(child)
    throw error
  }
}

/** Ends a server's process, by its own id. */
export async function stopServer(child: ChildProcess, signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'close')
  child.kill(signal)
  await ended
}

async function portOf(stdout: Readable, file: string): Promise<number> {
  for await (const line of createInterface({ input: stdout })) return Number(line)
  throw new Error(`${file} ended before it printed its port`)
}

function callEcho(port: number): Promise<string> {
  return new Promise((resolve, reject) => {
    const { body, headers } = echoCall
    const length = { 'content-length': Buffer.byteLength(body) }
    const call = request({ port, path: '/mcp', method: 'POST', agent: false, headers: { ...headers, ...length } })
    call.once('error', reject)
    call.once('response', (response) => {
      const chunks: Buffer[] = []
      response.once('error', reject)
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.once('end', () => resolve(Buffer.concat(chunks).toString()))
    })
    call.end(body)
  })
}

// Linux counts the nanoseconds of each thread; other systems have no such file.
async function cpuOf(pid: number | undefined): Promise<number | undefined> {
  const folder = `/proc/${pid}/task`
  const threads = await readdir(folder).catch(() => [])
  const texts = await Promise.all(threads.map((id) => readFile(`${folder}/${id}/schedstat`, 'utf8').catch(() => '0')))
  const nanoseconds = texts.reduce((sum, text) => sum + Number.parseInt(text, 10), 0)
  return nanoseconds > 0 ? nanoseconds / 1e6 : undefined
}
