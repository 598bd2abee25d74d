import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { checks, createHost } from '@tooling/e2e/dist/hop/checks.js'
import { createFeatures } from '@tooling/e2e/dist/hop/features.js'
import { findFreePort } from '@tooling/real-servers/free-port'
import { connectAny, type ServerTarget } from '@x/legacy/client'
import { serveHttp } from '@x/transport-http/node'
import { argumentsOf, type Programs, startProgram } from './processes.ts'
import { print } from './ratios.ts'

const require = createRequire(import.meta.url)
const server = [process.execPath, ...argumentsOf('bridges/features')]
const remote = fileBeside('mcp-remote/package.json', 'dist/proxy.js')
const supergateway = fileBeside('supergateway/package.json', 'dist/index.js')
// The package does not export its manifest.
const proxy = fileBeside('mcp-proxy', 'bin/mcp-proxy.mjs')

/** The bridges as arguments of Node, each with the options that its documentation states for this use. */
const toStdio: Readonly<Record<string, (url: string) => readonly string[]>> = {
  '@x/gateway': (url) => [...argumentsOf('bridges/to-stdio'), url],
  'mcp-remote': (url) => [remote, url, '--transport', 'http-only'],
  supergateway: (url) => [supergateway, '--streamableHttp', url, '--logLevel', 'none'],
}
const toHttp: Readonly<Record<string, (port: string) => readonly string[]>> = {
  '@x/gateway': (port) => argumentsOf(`bridges/to-http/${port}`),
  supergateway: (port) => [
    supergateway,
    '--stdio',
    server.join(' '),
    ...`--port ${port} --outputTransport streamableHttp --stateful --logLevel none`.split(' '),
  ],
  'mcp-proxy': (port) => [proxy, ...`--port ${port} --host 127.0.0.1 --server stream --`.split(' '), ...server],
}

function fileBeside(name: string, path: string): string {
  return join(dirname(require.resolve(name)), path)
}

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
const revisions = { '2026-07-28': '2026-07-28', '2025-11-25': 'older' } as const

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
  for (const [name, argumentsFor] of Object.entries(toStdio))
    print(await rowOf(name, 'to stdio', () => startToStdio(argumentsFor)))
  for (const [name, argumentsFor] of Object.entries(toHttp))
    print(await rowOf(name, 'to HTTP', () => startToHttp(argumentsFor)))
}

/** A bridge that is connected to its server. */
interface RunningBridge extends AsyncDisposable {
  readonly target: ServerTarget
}

async function rowOf(name: string, direction: string, start: () => Promise<RunningBridge>): Promise<string> {
  const counts: string[] = []
  const failures: string[] = []
  const total = Object.keys(checks).length
  for (const [hostRevision, revision] of Object.entries(revisions)) {
    await using bridge = await start()
    const failed = await findFailedChecks(bridge.target, revision)
    counts.push(`${total - failed.length} of ${total}`)
    if (failed.length > 0)
      failures.push(`${hostRevision}: ${failed.length === total ? 'everything' : failed.join(', ')}`)
  }
  return `| ${[name, direction, ...counts, failures.join('; ')].join(' | ')} |`
}

async function findFailedChecks(target: ServerTarget, revision: '2026-07-28' | 'older'): Promise<readonly string[]> {
  await using connection = connectAny(target, { revision, log: () => {} })
  const host = createHost(connection)
  const failed: string[] = []
  for (const [name, check] of Object.entries(checks)) {
    const limit = setTimeout(checkLimitMs, undefined, { ref: false }).then(() => Promise.reject(new Error('too late')))
    await Promise.race([check(host), limit]).catch(() => failed.push(name))
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

async function startToHttp(argumentsFor: (port: string) => readonly string[]): Promise<RunningBridge> {
  const port = String(await findFreePort())
  const bridge = await startProgram('a bridge', { run: argumentsFor(port) })
  const target = `http://127.0.0.1:${port}/mcp`
  // A bridge is ready when it answers anything.
  while ((await fetch(target, { signal: AbortSignal.timeout(5000) }).catch(() => undefined)) === undefined) {
    if (bridge.child.exitCode !== null) throw new Error(`a bridge ended with code ${bridge.child.exitCode}`)
    await setTimeout(100)
  }
  return { ...bridge, target }
}
