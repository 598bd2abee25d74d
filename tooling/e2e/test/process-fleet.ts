import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '@x/schema'

/** Several server processes behind a balancer that distributes requests in turn among the running ones. */
export interface ProcessFleet extends AsyncDisposable {
  /** The ports of the running instances. */
  readonly ports: readonly number[]
  /** Sends a request to one instance. Returns undefined without a response. The request may have been processed. */
  send(method: string, params: JsonObject): Promise<JsonObject | undefined>
  /** Sends a request to one instance after another until one responds. Rejects if none does. */
  ask(method: string, params: JsonObject): Promise<JsonObject>
  /** Kills a process and starts another one. */
  replace(index: number): Promise<void>
  /** Stops a process with SIGTERM and resolves to its exit code, or null if it had to be killed. */
  stop(index: number): Promise<number | null>
  /** Freezes a process for a number of milliseconds. Its connections stay open. */
  freeze(index: number, ms: number): Promise<void>
  /** The number of processes that exited unexpectedly. */
  readonly crashes: number
}

interface Instance {
  readonly child: ChildProcess
  /** Undefined while the process does not listen. */
  port: number | undefined
  /** True after SIGTERM was sent. */
  isStopping: boolean
}

/** The time limit of a response, in milliseconds. The next instance is tried after it. */
const responseTimeoutMs = 4000
const maxAttempts = 100

/** Starts several processes of a program that prints its port. */
export async function startProcessFleet(
  program: string,
  size: number,
  environment: NodeJS.ProcessEnv,
): Promise<ProcessFleet> {
  const start = async (): Promise<Instance> => {
    const env = { ...process.env, VITEST: undefined, ...environment }
    const child = spawn(process.execPath, [program], { env, stdio: ['ignore', 'pipe', 'inherit'] })
    const [line] = await once(child.stdout, 'data')
    return { child, port: Number(String(line)), isStopping: false }
  }
  const instances = await Promise.all(Array.from({ length: size }, start))
  let turn = 0
  let crashes = 0
  const watch = (instance: Instance): void => {
    instance.child.once('exit', (code) => (crashes += code === null || (instance.isStopping && code === 0) ? 0 : 1))
  }
  instances.forEach(watch)

  const readyPorts = (): readonly number[] => instances.flatMap(({ port }) => port ?? [])
  const send = async (method: string, params: JsonObject): Promise<JsonObject | undefined> => {
    const ports = readyPorts()
    const port = ports[turn++ % ports.length]
    return port === undefined ? undefined : post(port, method, params)
  }
  const replace = async (index: number): Promise<void> => {
    const old = instances[index]
    if (old === undefined) return
    old.port = undefined
    await kill(old)
    const next = await start()
    watch(next)
    instances[index] = next
  }
  return {
    get ports() {
      return readyPorts()
    },
    get crashes() {
      return crashes
    },
    send,
    ask: async (method, params) => {
      for (let tries = 0; tries < maxAttempts; tries++) {
        const answer = await send(method, params)
        if (answer !== undefined) return answer
        await setTimeout(50)
      }
      throw new Error(`No instance answers ${method}`)
    },
    replace,
    stop: async (index) => {
      const instance = instances[index]
      return instance === undefined ? null : stop(instance)
    },
    freeze: (index, ms) => freeze(instances[index], ms),
    [Symbol.asyncDispose]: async () => void (await Promise.all(instances.map(kill))),
  }
}

/** The time limit for an exit after SIGTERM, in milliseconds. */
const exitTimeoutMs = 30_000

async function stop(instance: Instance): Promise<number | null> {
  const { child } = instance
  instance.port = undefined
  instance.isStopping = true
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const exitTimeout = new AbortController()
  const killing = setTimeout(exitTimeoutMs, undefined, { signal: exitTimeout.signal }).then(
    () => child.kill('SIGKILL'),
    () => {},
  )
  const [code] = await exited
  exitTimeout.abort()
  await killing
  return code
}

async function freeze(instance: Instance | undefined, ms: number): Promise<void> {
  instance?.child.kill('SIGSTOP')
  await setTimeout(ms)
  instance?.child.kill('SIGCONT')
}

async function kill({ child }: Instance): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}

const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'e2e-client', version: '1.0.0' },
  'io.modelcontextprotocol/clientCapabilities': {
    elicitation: {},
    extensions: { 'io.modelcontextprotocol/tasks': {} },
  },
}

async function post(port: number, method: string, params: JsonObject): Promise<JsonObject | undefined> {
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    'mcp-name': String(params['taskId'] ?? params['name']),
  }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params: { ...params, _meta: meta } })
  try {
    const signal = AbortSignal.timeout(responseTimeoutMs)
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers, body, signal })
    const answer: unknown = await response.json()
    return isJsonObject(answer) ? answer : undefined
  } catch {
    // The process was killed, is frozen, or closed the connection.
    return undefined
  }
}
