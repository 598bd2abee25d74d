import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout } from 'node:timers/promises'
import { isJsonObject, type JsonObject } from '@x/schema'

/** Several server processes behind a balancer that sends every request to the next one that is not about to begin. */
export interface ProcessFleet extends AsyncDisposable {
  /** Sends a request to one instance; undefined when no answer comes, and then nobody knows whether it was done. */
  send(method: string, params: JsonObject): Promise<JsonObject | undefined>
  /** Sends a request to one instance after the other until one answers. Rejects when none does. */
  ask(method: string, params: JsonObject): Promise<JsonObject>
  /** Ends a process in the middle of whatever it does, and starts another in its place. */
  replace(place: number): Promise<void>
  /** Makes a process stand still, with its connections open, for so many milliseconds. */
  freeze(place: number, ms: number): Promise<void>
  /** How many processes ended by themselves. */
  readonly crashes: number
}

interface Instance {
  readonly child: ChildProcess
  /** Undefined until it listens. */
  port: number | undefined
}

/** How long an instance may take to answer, in milliseconds; then the next one is asked. */
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
    return { child, port: Number(String(line)) }
  }
  const instances = await Promise.all(Array.from({ length: size }, start))
  let turn = 0
  let crashes = 0
  const watch = ({ child }: Instance): void => void child.once('exit', (code) => (crashes += code === null ? 0 : 1))
  instances.forEach(watch)

  const send = async (method: string, params: JsonObject): Promise<JsonObject | undefined> => {
    const ready = instances.filter(({ port }) => port !== undefined)
    const port = ready[turn++ % ready.length]?.port
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
    freeze: async (place, ms) => {
      const child = instances[place]?.child
      child?.kill('SIGSTOP')
      await setTimeout(ms)
      child?.kill('SIGCONT')
    },
    [Symbol.asyncDispose]: async () => void (await Promise.all(instances.map(end))),
  }
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
