import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '@x/schema'

/** Several server processes behind a balancer that sends every request to the next one that is not about to begin. */
export interface ProcessFleet extends AsyncDisposable {
  /** The ports of the instances that are not about to begin. */
  readonly ports: readonly number[]
  /** Sends a request to one instance; undefined without an answer. The request may then have been processed. */
  send(method: string, params: JsonObject): Promise<JsonObject | undefined>
  /** Sends a request to one instance after the other until one answers. Rejects when none does. */
  ask(method: string, params: JsonObject): Promise<JsonObject>
  /** Ends a process during its work, and starts another. */
  replace(place: number): Promise<void>
  /** Stops a process by SIGTERM, and resolves with its exit code; null when it had to be killed. */
  stop(place: number): Promise<number | null>
  /** Makes a process stand still, with its connections open, for so many milliseconds. */
  freeze(place: number, ms: number): Promise<void>
  /** The number of processes that exited by themselves. */
  readonly crashes: number
}

interface Instance {
  readonly child: ChildProcess
  /** Undefined until it listens. */
  port: number | undefined
  /** True when it was told to stop. */
  isStopping: boolean
}

/** The time limit of an instance's response in milliseconds; after it the next one is tried. */
const patienceMs = 4000
const mostTries = 100

/** Starts so many processes of a program that prints its port. */
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
  const replace = async (place: number): Promise<void> => {
    const old = instances[place]
    if (old === undefined) return
    old.port = undefined
    await end(old)
    const next = await start()
    watch(next)
    instances[place] = next
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
      for (let tries = 0; tries < mostTries; tries++) {
        const answer = await send(method, params)
        if (answer !== undefined) return answer
        await setTimeout(50)
      }
      throw new Error(`No instance answers ${method}`)
    },
    replace,
    stop: async (place) => {
      const instance = instances[place]
      return instance === undefined ? null : stop(instance)
    },
    freeze: (place, ms) => freeze(instances[place], ms),
    [Symbol.asyncDispose]: async () => void (await Promise.all(instances.map(end))),
  }
}

/** The milliseconds that a process has to exit after SIGTERM. */
const exitTimeoutMs = 30_000

async function stop(instance: Instance): Promise<number | null> {
  const { child } = instance
  instance.port = undefined
  instance.isStopping = true
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const late = new AbortController()
  const killing = setTimeout(exitTimeoutMs, undefined, { signal: late.signal }).then(
    () => child.kill('SIGKILL'),
    () => {},
  )
  const [code] = await exited
  late.abort()
  await killing
  return code
}

async function freeze(instance: Instance | undefined, ms: number): Promise<void> {
  instance?.child.kill('SIGSTOP')
  await setTimeout(ms)
  instance?.child.kill('SIGCONT')
}

async function end({ child }: Instance): Promise<void> {
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
    const signal = AbortSignal.timeout(patienceMs)
    const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: 'POST', headers, body, signal })
    const answer: unknown = await response.json()
    return isJsonObject(answer) ? answer : undefined
  } catch {
    // It was killed, stands still, or went away in between.
    return undefined
  }
}
