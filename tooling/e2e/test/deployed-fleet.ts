import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { cp, writeFile } from 'node:fs/promises'
import { findFreePort } from '@tooling/real-servers/free-port'
import { expect, onTestFinished } from 'vitest'
import { keys } from './asking.ts'
import { type BundledExample, deployFolder } from './bundle-example.ts'

/** Starts the bundle of `server.mjs` with PATH and the given environment. */
export function startServer(program: string, environment: NodeJS.ProcessEnv): ChildProcess {
  const env = { PATH: process.env['PATH'], ...environment }
  return spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'pipe'] })
}

/** Resolves to the URL that a server prints when it is ready, as in `Serving http://127.0.0.1:3000/mcp`. */
export async function readPrintedUrl(server: ChildProcess): Promise<string> {
  const [line] = await once(server.stdout ?? server, 'data')
  const [, url = ''] = /^Serving (\S+)(?: in process \d+)?\n$/.exec(String(line)) ?? []
  return url
}

/** Checks that a server is ready, and that it stops without an error. */
export async function checkReadyAndStop(server: ChildProcess, url: string): Promise<void> {
  const response = await fetch(new URL('/readyz', url))
  expect(response.status).toBe(200)
  await response.body?.cancel()
  expect(await stopServer(server)).toEqual([0, null])
}

/** Stops a server with SIGTERM. Resolves to its exit code and the signal that ended it. */
export async function stopServer(server: ChildProcess): Promise<readonly unknown[]> {
  const exited = once(server, 'exit')
  server.kill('SIGTERM')
  return exited
}

/** Stops servers at the same time. Each waits for its balancer, and ends without an error. */
export async function expectStop(servers: readonly ChildProcess[]): Promise<void> {
  expect(await Promise.all(servers.map(stopServer))).toEqual(servers.map(() => [0, null]))
}

/** Returns the ports of two instances, and a function that starts one of them for the current test. */
export async function prepareFleet(
  bundle: BundledExample,
  databaseUrl: string,
): Promise<{ readonly startInstance: (index: number) => Promise<ChildProcess>; readonly ports: readonly number[] }> {
  const keysFile = `${bundle.folder}/state.keys`
  await writeFile(keysFile, `${keys.first}\n`)
  const ports = [await findFreePort(), await findFreePort()]
  const startInstance = async (index: number): Promise<ChildProcess> => {
    const child = startServer(bundle.path, {
      PORT: String(ports[index]),
      ALLOWED_HOSTS: '127.0.0.1,localhost',
      STATE_KEYS_FILE: keysFile,
      DATABASE_URL: databaseUrl,
      CLIENT_ADDRESS_HEADER: 'x-forwarded-for',
    })
    onTestFinished(() => void child.kill('SIGKILL'))
    child.stderr?.pipe(process.stderr)
    if (child.stdout !== null) await once(child.stdout, 'data')
    return child
  }
  return { startInstance, ports }
}

/** Copies the files of the folder, as a user does. */
export async function copyDeployFolder(target: string): Promise<void> {
  await cp(deployFolder, target, { recursive: true })
}
