import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { expect } from 'vitest'
import { deployFolder } from './bundle-example.ts'
import { textOf } from './deploy-checkers.ts'
import { haproxy, type ProxyKind } from './proxies.ts'

/** Starts the bundle of `server.mjs` with an environment and nothing else. */
export function startServer(program: string, environment: NodeJS.ProcessEnv): ChildProcess {
  const env = { PATH: process.env['PATH'], ...environment }
  return spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Resolves with the URL that a server prints when it is ready, as in `Serving http://127.0.0.1:3000/mcp`. */
export async function printedUrl(server: ChildProcess): Promise<string> {
  const [line] = await once(server.stdout ?? server, 'data')
  const [, url = ''] = /^Serving (\S+)\n$/.exec(String(line)) ?? []
  return url
}

/** Checks that a server is ready, and that it stops without an error. */
export async function checkReadyAndStop(server: ChildProcess, url: string): Promise<void> {
  const response = await fetch(new URL('/readyz', url))
  expect(response.status).toBe(200)
  await response.body?.cancel()
  expect(await stopServer(server)).toEqual([0, null])
}

/** Stops a server as an operator does. Resolves with its exit code and the signal that ended it. */
export async function stopServer(server: ChildProcess): Promise<readonly unknown[]> {
  const exited = once(server, 'exit')
  server.kill('SIGTERM')
  return exited
}

/** The folder's HAProxy, with ports of this machine in the place of containers. */
export const folderHaproxy: ProxyKind = {
  ...haproxy,
  configure: ({ ports: [one, two] }, { port }) =>
    textOf('haproxy.cfg')
      .replace('bind :8080', `bind 127.0.0.1:${port}`)
      .replaceAll(' one:3000', ` 127.0.0.1:${one}`)
      .replaceAll(' two:3000', ` 127.0.0.1:${two}`),
}

/** Copies the files of the folder, as a user does. */
export async function copyDeployFolder(place: string): Promise<void> {
  await cp(deployFolder, place, { recursive: true })
}
