import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createServer, type IncomingMessage, request as sendRequest, type ServerResponse } from 'node:http'
import { pipeline } from 'node:stream'
import { keys } from './asking.ts'
import { listenLocally } from './listen-locally.ts'

/** A server in its own process. */
export interface Instance {
  readonly child: ChildProcess
  readonly port: number
  readonly exited: Promise<unknown>
  /** `true` if the last health check was answered with 200. */
  isReady: boolean
}

/** Starts a bundled program that prints its port. */
export async function startInstance(path: string, files: NodeJS.ProcessEnv): Promise<Instance> {
  const env = { ...process.env, STATE_KEYS: keys.first, ...files, VITEST: undefined }
  const child = spawn(process.execPath, [path], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const [line] = await once(child.stdout, 'data')
  return { child, port: Number(String(line)), exited, isReady: true }
}

/** A balancer in front of instances. */
export interface Balancer {
  /** The URL of the endpoint behind the balancer. */
  readonly url: string
  stop(): void
}

/**
 * Starts a balancer that distributes requests in turn among the instances whose last readiness check passed. It sends
 * each request once.
 */
export async function startBalancer(instances: readonly Instance[]): Promise<Balancer> {
  let turn = 0
  const server = createServer((request, response) => {
    const ready = instances.filter(({ isReady }) => isReady)
    const chosen = ready[turn++ % ready.length]
    if (chosen === undefined) response.writeHead(502).end()
    else forwardRequest(request, response, chosen.port)
  })
  const checks = setInterval(() => {
    for (const instance of instances) void checkHealth(instance)
  }, 25)
  const stop = (): void => {
    clearInterval(checks)
    server.closeAllConnections()
    server.close()
  }
  return { url: `http://127.0.0.1:${await listenLocally(server)}/mcp`, stop }
}

async function checkHealth(instance: Instance): Promise<void> {
  const checked = fetch(`http://127.0.0.1:${instance.port}/readyz`, { headers: { connection: 'close' } })
  instance.isReady = await checked.then(({ ok }) => ok).catch(() => false)
}

function forwardRequest(request: IncomingMessage, response: ServerResponse, port: number): void {
  const { method, url, headers } = request
  const forwarded = sendRequest({ port, host: '127.0.0.1', method, path: url, headers, agent: false }, (answer) => {
    response.writeHead(answer.statusCode ?? 502, answer.headers)
    // When one side closes, the other is closed too, so a client notices that its instance was killed.
    pipeline(answer, response, () => {})
  })
  forwarded.on('error', () => response.destroy())
  response.on('close', () => forwarded.destroy())
  request.pipe(forwarded)
}

/** Stops instances with SIGTERM, one after another. */
export async function stopInstances(instances: readonly Instance[]): Promise<void> {
  for (const { child, exited } of instances) {
    child.kill('SIGTERM')
    await exited
  }
}
