import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import type { CallKind, CallView, MessageView, QuestionView, StampedEvent } from '../dev/events.ts'
import type { ServeDevOptions } from '../dev/dev-options.ts'
import { type OpenDevServer, openDevServer } from '../dev/dev-server.ts'

/** `dev-program.ts`, in a folder of its own that is watched. */
export interface BuiltDevProgram {
  readonly path: string
  readonly effectsPath: string
  /** Replaces a text in the program, as an author changes the source. */
  change(text: string, replacement: string): Promise<void>
  remove(): Promise<void>
}

/** Bundles the program, because the oldest Node version runs no TypeScript. */
export async function buildDevProgram(): Promise<BuiltDevProgram> {
  const folder = await mkdtemp(join(tmpdir(), 'mcpx-dev-'))
  const path = join(folder, 'program.mjs')
  await build({
    entryPoints: [fileURLToPath(new URL('./dev-program.ts', import.meta.url))],
    bundle: true,
    outfile: path,
    format: 'esm',
    platform: 'node',
    target: 'node20',
    banner: { js: `import { createRequire } from 'node:module'; const require = createRequire(import.meta.url)` },
    logLevel: 'silent',
  })
  const original = await readFile(path, 'utf8')
  return {
    path,
    effectsPath: join(tmpdir(), `${folder.split('/').at(-1)}.effects`),
    change: (text, replacement) => writeFile(path, original.replace(text, replacement)),
    remove: () => rm(folder, { recursive: true, force: true }),
  }
}

/** Uses the command as its page does: by its event stream and its commands. */
export class DevDriver {
  readonly dev: OpenDevServer
  readonly #events: StampedEvent[] = []
  readonly #waiting = new Set<() => void>()
  readonly #controller = new AbortController()

  private constructor(dev: OpenDevServer) {
    this.dev = dev
  }

  static async start({ page, ...options }: ServeDevOptions & { readonly page?: URL }): Promise<DevDriver> {
    const driver = new DevDriver(await openDevServer({ port: 0, ...options }, page))
    void driver.#read().catch(() => {})
    return driver
  }

  get events(): readonly StampedEvent[] {
    return this.#events
  }

  get seq(): number {
    return this.#events.at(-1)?.seq ?? 0
  }

  async post(path: string, body: object = {}): Promise<Record<string, unknown>> {
    const response = await fetch(`http://127.0.0.1:${this.dev.port}/api/${path}`, {
      method: 'POST',
      headers: { authorization: `Bearer ${this.dev.token}` },
      body: JSON.stringify(body),
    })
    const result: unknown = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(result))
    return Object(result)
  }

  /** Waits for an event after the given number. */
  async waitFor<T>(find: (event: StampedEvent) => T | undefined | false, after = 0): Promise<T> {
    for (;;) {
      for (const event of this.#events) {
        const found = event.seq > after && find(event)
        if (found !== undefined && found !== false) return found
      }
      await new Promise<void>((resolve) => this.#waiting.add(resolve))
    }
  }

  /** Waits until the server is ready after the given event. */
  ready(after = 0): Promise<number> {
    return this.waitFor((event) => event.type === 'server' && event.server.status === 'ready' && event.seq, after)
  }

  get pids(): readonly number[] {
    const states = this.#events.flatMap((event) => (event.type === 'server' ? [event.server] : []))
    return states.at(-1)?.pids ?? []
  }

  call(tool: string, args: object = {}): Promise<number> {
    return this.callOf('tool', tool, args)
  }

  async callOf(kind: CallKind, target: string, args: object = {}): Promise<number> {
    const { id } = await this.post('call', { kind, target, args })
    return Number(id)
  }

  /** Waits for the end of a call. */
  ended(id: number): Promise<CallView> {
    return this.waitFor(
      (event) => event.type === 'call' && event.call.id === id && event.call.status !== 'running' && event.call,
    )
  }

  question(after = 0): Promise<QuestionView> {
    return this.waitFor((event) => event.type === 'question' && event.isOpen && event.question, after)
  }

  messages(id: number): readonly MessageView[] {
    return this.#events.flatMap((event) =>
      event.type === 'message' && event.message.callId === id ? [event.message] : [],
    )
  }

  /** What the processes of the server have printed so far. */
  get output(): readonly string[] {
    return this.#events.flatMap((event) => (event.type === 'output' ? [event.text] : []))
  }

  async close(): Promise<void> {
    this.#controller.abort()
    await this.dev.close()
  }

  async #read(): Promise<void> {
    const response = await fetch(`http://127.0.0.1:${this.dev.port}/api/events`, {
      headers: { authorization: `Bearer ${this.dev.token}` },
      signal: this.#controller.signal,
    })
    let rest = ''
    for await (const chunk of (response.body ?? new Blob([]).stream()).pipeThrough(new TextDecoderStream())) {
      const events = (rest + chunk).split('\n\n')
      rest = events.pop() ?? ''
      for (const text of events) if (text.startsWith('data: ')) this.#events.push(JSON.parse(text.slice(6)))
      for (const resolve of this.#waiting) resolve()
      this.#waiting.clear()
    }
  }
}
