import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import { checks, createHost } from '@tooling/e2e/dist/hop/checks.js'
import { createFeatures } from '@tooling/e2e/dist/hop/features.js'
import { connectAny, type ServerTarget } from '@x/legacy/client'
import { serveHttp } from '@x/transport-http/node'
import { findFreePort } from '@tooling/real-servers/free-port'
import { print } from '../benchmark.ts'
import { type BridgeProgram, bridgePrograms } from './programs.ts'

/** The timeout of one check in milliseconds. A host waits forever for a message that the bridge drops. */
const checkLimitMs = 15_000
const revisions = ['2026-07-28', 'older'] as const

/**
 * Counts the features that work across our bridge and other bridges, for hosts of 2026-07-28 and of 2025-11-25. Prints
 * a Markdown table with the features that do not work.
 */
export async function run(): Promise<void> {
  print(`| bridge | direction | host of 2026-07-28 | host of 2025-11-25 | does not cross |`)
  print('| --- | --- | --- | --- | --- |')
  for (const program of bridgePrograms) {
    if (program.toStdio !== undefined) print(await rowOf(program.name, 'to stdio', () => startToStdio(program)))
    if (program.toHttp !== undefined) print(await rowOf(program.name, 'to HTTP', () => startToHttp(program)))
  }
}

/** A bridge that is connected to its server. */
interface RunningBridge extends AsyncDisposable {
  readonly target: ServerTarget
}

async function rowOf(name: string, direction: string, start: () => Promise<RunningBridge>): Promise<string> {
  const counts: string[] = []
  const failures: string[] = []
  for (const revision of revisions) {
    await using bridge = await start()
    const failed = await findFailedChecks(bridge.target, revision)
    const total = Object.keys(checks).length
    counts.push(`${total - failed.length} of ${total}`)
    const hostRevision = revision === 'older' ? '2025-11-25' : revision
    if (failed.length > 0)
      failures.push(`${hostRevision}: ${failed.length === total ? 'everything' : failed.join(', ')}`)
  }
  return `| ${[name, direction, ...counts, failures.join('; ')].join(' | ')} |`
}

async function findFailedChecks(
  target: ServerTarget,
  revision: (typeof revisions)[number],
): Promise<readonly string[]> {
  await using connection = connectAny(target, { revision, log: () => {} })
  const host = createHost(connection)
  const failed: string[] = []
  for (const [name, check] of Object.entries(checks)) {
    const passed = check(host).then(
      () => true,
      () => false,
    )
    if (!(await Promise.race([passed, setTimeout(checkLimitMs, false, { ref: false })]))) failed.push(name)
  }
  return failed
}

async function startToStdio({ toStdio }: BridgeProgram): Promise<RunningBridge> {
  const http = await serveHttp(createFeatures())
  return {
    target: { command: process.execPath, args: toStdio?.(http.url) ?? [] },
    [Symbol.asyncDispose]: () => http.close({ graceMs: 0 }),
  }
}

async function startToHttp({ toHttp }: BridgeProgram): Promise<RunningBridge> {
  const port = await findFreePort()
  const child = spawn(process.execPath, toHttp?.(port) ?? [], { stdio: 'ignore' })
  await waitForPort(port, child)
  return {
    target: `http://127.0.0.1:${port}/mcp`,
    [Symbol.asyncDispose]: async () => {
      if (child.exitCode !== null || child.signalCode !== null) return
      const exited = once(child, 'exit')
      child.kill()
      await exited
    },
  }
}

async function waitForPort(port: number, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1')
    const isOpen = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isOpen) return
    await setTimeout(100)
  }
  throw new Error(`The bridge ended with code ${child.exitCode} before it listened on port ${port}`)
}
