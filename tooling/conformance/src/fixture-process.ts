import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { metaKeys, protocolVersion } from '@x/schema'
import { freePort } from './free-port.ts'

const program = fileURLToPath(new URL('./main.js', import.meta.url))
const startMilliseconds = 15_000
const stopMilliseconds = 5_000

/** The fixture server in a separate process. */
export interface FixtureProcess {
  readonly url: string
  /** Returns true while the process runs. Scenarios that expect errors also pass if the server is dead. */
  running(): boolean
  /** Ends the process. */
  stop(): Promise<void>
}

/**
 * Starts the built fixture server on a free port, and waits until it responds to `server/discover`.
 *
 * @throws Error if the port is in use, the process ends, or there is no response within 15 seconds.
 */
export async function startFixture(port?: number): Promise<FixtureProcess> {
  const chosen = await freePort(port)
  const args = ['--conditions=dist', program, 'serve', '--port', String(chosen)]
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const url = `http://127.0.0.1:${chosen}/mcp`
  const running = (): boolean => child.exitCode === null && child.signalCode === null
  const stop = (): Promise<void> => stopProcess(child)
  try {
    await untilReady(url, running)
  } catch (error) {
    await stop()
    throw error
  }
  return { url, running, stop }
}

async function untilReady(url: string, running: () => boolean): Promise<void> {
  const deadline = Date.now() + startMilliseconds
  let last: unknown
  while (Date.now() < deadline) {
    if (!running()) throw new Error('the fixture server ended before its first response: its output is above')
    try {
      const response = await discover(url)
      if (response.status === 200) return
      last = new Error(`HTTP ${response.status}: ${await response.text()}`)
    } catch (error) {
      last = error
    }
    await delay(50)
  }
  throw new Error(`the fixture server at ${url} did not respond to server/discover`, { cause: last })
}

function discover(url: string): Promise<Response> {
  const meta = { [metaKeys.protocolVersion]: protocolVersion, [metaKeys.clientCapabilities]: {} }
  return fetch(url, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': protocolVersion,
      'mcp-method': 'server/discover',
    },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'server/discover', params: { _meta: meta } }),
    signal: AbortSignal.timeout(2_000),
  })
}

async function stopProcess(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const ended = once(child, 'exit')
  child.kill('SIGTERM')
  const timer = setTimeout(() => child.kill('SIGKILL'), stopMilliseconds)
  await ended
  clearTimeout(timer)
}
