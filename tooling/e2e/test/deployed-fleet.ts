import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp } from 'node:fs/promises'
import { deployFolder } from './bundle-example.ts'
import { textOf } from './deploy-checkers.ts'
import { haproxy, type ProxyKind } from './proxies.ts'

/** Starts the bundle of `server.mjs` with an environment and nothing else. */
export function startServer(program: string, environment: NodeJS.ProcessEnv): ChildProcess {
  const env = { PATH: process.env['PATH'], ...environment }
  return spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] })
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
