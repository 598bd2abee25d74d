import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { isJsonObject, type JsonObject, type JsonValue } from '@x/schema'
import { NotSeen, type Session } from './session.ts'
import { killGroup, startMs, waitFor } from './terminal.ts'

/** A program with a library, which `programs/run.mjs` runs. */
export interface ProgramSessionOptions {
  readonly command: readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  readonly lacks: Session['lacks']
}

const callMs = 15_000

/** Runs a program whose user acts in lines of JSON. It is one process, so it keeps what its library keeps. */
export async function programSession({ command, cwd, env, lacks = {} }: ProgramSessionOptions): Promise<Session> {
  const [file, ...args] = command
  const child = spawn(file, args, { cwd, env, stdio: 'pipe', detached: true })
  // What the program has started, such as a server or mcp-remote, ends with it.
  const kill = (): void => killGroup(child.pid ?? 0)
  process.once('exit', kill)
  let shown: JsonObject[] = []
  let log = ''
  createInterface({ input: child.stdout }).on('line', (line) => shown.push(...objectsIn(line)))
  child.stderr.on('data', (chunk) => (log += String(chunk)))
  const find = (name: string): JsonValue | undefined => shown.find((line) => line[name] !== undefined)?.[name]
  const describe = (): string => `no answer of the program ${JSON.stringify(shown)}\n${log}`
  const wait = <T>(look: () => T | undefined, timeoutMs = callMs): Promise<T> =>
    waitFor(() => look() ?? throwIfEnded(child, log), { timeoutMs, describe })
  const act = (kind: string, ...values: readonly JsonValue[]): void =>
    void child.stdin.write(`${JSON.stringify({ [kind]: values })}\n`)
  const request = async (kind: string, values: readonly JsonValue[], during?: () => Promise<void>): Promise<string> => {
    shown = []
    act(kind, ...values)
    await during?.()
    return String(await wait(() => find('result')))
  }
  const offers = await wait(() => find('offers'), startMs).catch((error: unknown) => {
    kill()
    throw error
  })
  const has = (kind: string): boolean => Array.isArray(offers) && offers.includes(kind)
  return {
    lacks,
    call: (tool, values = {}, during) => request('call', [tool, values], during),
    async see(pattern, timeoutMs) {
      const text = await wait(() => textIn(shown, pattern) ?? resultInstead(find('result')), timeoutMs)
      shown = shown.filter((line) => !textIn([line], pattern))
      return text
    },
    answer: async (...values) => act('answer', ...values),
    cancel: async () => act('cancel'),
    ...(has('prompt') && { prompt: (name, values) => request('prompt', [name, values]) }),
    ...(has('read') && { read: (uri) => request('read', [uri]) }),
    async close() {
      child.stdin.end()
      await waitFor(() => hasEnded(child) || undefined, { timeoutMs: 3000, describe: () => '' }).catch(() => {})
      kill()
      process.off('exit', kill)
    },
  }
}

/** Throws a result that came although the user waits for something else. */
function resultInstead(result: JsonValue | undefined): undefined {
  if (result !== undefined) throw new NotSeen(String(result))
  return undefined
}

const hasEnded = ({ exitCode, signalCode }: ChildProcess): boolean => exitCode !== null || signalCode !== null

function throwIfEnded(child: ChildProcess, log: string): undefined {
  if (hasEnded(child)) throw new Error(`the program has ended: ${log}`)
  return undefined
}

/** Libraries print texts of their own between the lines of the program. */
function objectsIn(line: string): readonly JsonObject[] {
  try {
    const value: unknown = JSON.parse(line)
    return isJsonObject(value) ? [value] : []
  } catch {
    return []
  }
}

function textIn(shown: readonly JsonObject[], pattern: RegExp): string | undefined {
  const text = shown.map((line) => JSON.stringify(line)).join('\n')
  return pattern.test(text) ? text : undefined
}
