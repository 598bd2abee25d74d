import { type ChildProcess, spawn } from 'node:child_process'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { checks, createHost } from '@tooling/e2e/dist/hop/checks.js'
import { createFeatures } from '@tooling/e2e/dist/hop/features.js'
import { findFreePort } from '@tooling/real-servers/free-port'
import { connectAny, type ServerTarget } from '@x/legacy/client'
import { serveHttp } from '@x/transport-http/node'
import { type Programs, stopProcess } from './processes.ts'
import { print } from './ratios.ts'

/** A bridge as a Node program, with the arguments of `node` for each direction that it supports. */
interface Bridge {
  readonly name: string
  readonly toStdio?: (url: string) => readonly string[]
  readonly toHttp?: (port: number) => readonly string[]
}

const require = createRequire(import.meta.url)
const fileBeside = (name: string, path: string): string => join(dirname(require.resolve(name)), path)
const main = ['--conditions=dist', fileURLToPath(new URL('main.js', import.meta.url)), '--program']
const server = [process.execPath, ...main, 'bridges/features']

/** Our bridge and other bridges, each with the options that its documentation states for this use. */
const bridges: readonly Bridge[] = [
  {
    name: '@x/gateway',
    toStdio: (url) => [...main, 'bridges/to-stdio', url],
    toHttp: (port) => [...main, `bridges/to-http/${port}`],
  },
  {
    name: 'mcp-remote',
    toStdio: (url) => [fileBeside('mcp-remote/package.json', 'dist/proxy.js'), url, '--transport', 'http-only'],
  },
  {
    name: 'supergateway',
    toStdio: (url) => [
      fileBeside('supergateway/package.json', 'dist/index.js'),
      '--streamableHttp',
      url,
      '--logLevel',
      'none',
    ],
    toHttp: (port) => [
      fileBeside('supergateway/package.json', 'dist/index.js'),
      '--stdio',
      server.join(' '),
      '--port',
      String(port),
      ...'--outputTransport streamableHttp --stateful --logLevel none'.split(' '),
    ],
  },
  {
    name: 'mcp-proxy',
    // The package does not export its manifest.
    toHttp: (port) => [
      fileBeside('mcp-proxy', 'bin/mcp-proxy.mjs'),
      '--port',
      String(port),
      '--host',
      '127.0.0.1',
      '--server',
      'stream',
      '--',
      ...server,
    ],
  },
]

/** The server behind each bridge, with one of everything, and our bridge in both directions. */
export const programs: Programs = {
  features: async () => (await import('@x/transport-stdio')).serveStdio(createFeatures()),
  'to-stdio': async (url = '') => (await import('@x/gateway/node')).bridge({ toStdio: url }),
  'to-http': async (port = '') => {
    const [command = '', ...args] = server
    await (await import('@x/gateway/node')).bridge({ toHttp: Number(port), command, args })
  },
}

/** The timeout of one check in milliseconds. A host waits forever for a message that the bridge drops. */
const checkLimitMs = 15_000
const revisions = ['2026-07-28', 'older'] as const

/**
 * Counts the features that work across our bridge and other bridges, in the versions of `package.json`, for hosts of
 * 2026-07-28 and of 2025-11-25, and prints a Markdown table with those that do not work.
 *
 * Method: the server is ours, with one of everything, and serves both revisions. The host is our client. The checks are
 * those of the test of our own bridge. Not measured: speed, memory, logins, and servers that are not ours.
 */
export async function run(): Promise<void> {
  print(`| bridge | direction | host of 2026-07-28 | host of 2025-11-25 | does not cross |`)
  print('| --- | --- | --- | --- | --- |')
  for (const { name, toStdio, toHttp } of bridges) {
    if (toStdio !== undefined) print(await rowOf(name, 'to stdio', () => startToStdio(toStdio)))
    if (toHttp !== undefined) print(await rowOf(name, 'to HTTP', () => startToHttp(toHttp)))
  }
}

/** A bridge that is connected to its server. */
interface RunningBridge extends AsyncDisposable {
  readonly target: ServerTarget
}

async function rowOf(name: string, direction: string, start: () => Promise<RunningBridge>): Promise<string> {
  const counts: string[] = []
  const failures: string[] = []
  const total = Object.keys(checks).length
  for (const revision of revisions) {
    await using bridge = await start()
    const failed = await findFailedChecks(bridge.target, revision)
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

async function startToStdio(argumentsFor: (url: string) => readonly string[]): Promise<RunningBridge> {
  const http = await serveHttp(createFeatures())
  return {
    target: { command: process.execPath, args: argumentsFor(http.url) },
    [Symbol.asyncDispose]: () => http.close({ graceMs: 0 }),
  }
}

async function startToHttp(argumentsFor: (port: number) => readonly string[]): Promise<RunningBridge> {
  const port = await findFreePort()
  const child = spawn(process.execPath, argumentsFor(port), { stdio: 'ignore' })
  const target = `http://127.0.0.1:${port}/mcp`
  await waitForAnswer(target, child)
  return {
    target,
    [Symbol.asyncDispose]: () => stopProcess(child, 'SIGTERM'),
  }
}

/** Waits until a bridge answers anything. */
async function waitForAnswer(url: string, child: ChildProcess): Promise<void> {
  while (child.exitCode === null) {
    const isOpen = await fetch(url, { signal: AbortSignal.timeout(5000) }).then(
      () => true,
      () => false,
    )
    if (isOpen) return
    await setTimeout(100)
  }
  throw new Error(`The bridge ended with code ${child.exitCode} before it answered at ${url}`)
}
