import { AsyncLocalStorage } from 'node:async_hooks'
import { setTimeout as sleep } from 'node:timers/promises'
import { type AnyConnection, connectAny, type ConnectAnyOptions } from '@x/legacy/client'
import type { EventLog } from '../event-log.ts'
import type { ServerState } from '../events.ts'
import { createWireFetch, type Instance } from '../wire/fetch.ts'
import { wrapProcessStreams } from '../wire/streams.ts'
import type { Wire } from '../wire/wire.ts'
import { type DevTarget, findPortAdvice } from './dev-target.ts'
import { afterKillMs, Instances, ProgramInstances } from './instances.ts'
import { noticeStart } from './module-program.ts'
import { RestartableConnection } from './restartable-connection.ts'

/** Revision that a connection names. `probe` is the newest that the server speaks. */
export type WantedRevision = NonNullable<ConnectAnyOptions['revision']>

/** What a target is made of. */
export interface DevTargetOptions {
  readonly target: DevTarget
  /** Processes of a program that starts its server itself. */
  readonly fleet: (() => readonly Instance[]) | undefined
  /** Processes over HTTP. */
  readonly instanceCount: number
  readonly watched: readonly string[]
  readonly env: Readonly<Record<string, string | undefined>>
  readonly cwd: string
  readonly log: EventLog
  readonly wire: Wire
  /** For connections to a server at a URL, such as a login. */
  readonly http: Pick<NonNullable<ConnectAnyOptions['http']>, 'headers' | 'auth'>
  readonly otherToken: string | undefined
}

/** Asks the server for its name over the connection of the page. Rejects if it does not answer. */
export type Probe = (
  signal: AbortSignal,
) => Promise<{ readonly name: string | undefined; readonly revision: string | undefined }>

/** Without an answer by then, a server is called silent. It may still answer. */
const silentMs = 10_000
const maxOutputLines = 40

/**
 * The server that is developed. It is started, restarted after a change, and killed on request; connections to it
 * outlive its processes.
 */
export class Target {
  readonly #options: DevTargetOptions
  readonly #connections = new Set<RestartableConnection>()
  readonly #loggingIn = new Set<RestartableConnection>()
  readonly #probing = new AsyncLocalStorage<boolean>()
  readonly #output: string[] = []
  #state: ServerState
  readonly #program: ProgramInstances | undefined
  #instances: Instances | undefined
  #url: URL | undefined
  #probe: Probe = () => Promise.reject(new Error('not started'))
  #start = new AbortController()
  #work: Promise<void> = Promise.resolve()
  #ready = createResolvers()
  #primary: RestartableConnection | undefined
  #isClosed = false
  /** The server is ready. Called before calls that wait for it. */
  onReady: () => void = () => {}
  /** The process of the server is about to end. */
  onRestart: () => void = () => {}

  constructor(options: DevTargetOptions) {
    const { target, watched, fleet } = options
    this.#options = options
    this.#program = fleet && new ProgramInstances(fleet)
    this.#url = target.kind === 'url' ? target.url : undefined
    this.#state = {
      status: 'starting',
      target: target.text,
      transport: target.kind === 'url' ? 'http' : undefined,
      isOwn: target.kind !== 'url',
      pids: [],
      name: undefined,
      profile: undefined,
      revision: undefined,
      startMs: undefined,
      notice: undefined,
      reason: undefined,
      watched,
    }
    this.#set({})
  }

  get state(): ServerState {
    return this.#state
  }

  /** Undefined for a server over stdio. */
  get url(): URL | undefined {
    return this.#instances?.last?.url ?? this.#url
  }

  /** Undefined for a server that runs elsewhere. */
  get program(): { readonly command: string; readonly args: readonly string[] } | undefined {
    const { target } = this.#options
    return target.kind === 'url' ? undefined : target
  }

  /** Opens a connection that outlives the server's processes. */
  connect(revision: WantedRevision): RestartableConnection {
    const connection: RestartableConnection = new RestartableConnection({
      open: () => this.#open(revision, () => connection),
      waitUntilReady: () => this.#waitUntilReady(),
      onRequest: (request) => this.#options.wire.expect(request),
    })
    this.#connections.add(connection)
    connection.onStateChange(() => this.#noteLogin(connection))
    connection.closed.addEventListener('abort', () => this.#connections.delete(connection))
    return connection
  }

  /**
   * Makes a connection that of the page, and starts the server, again if it runs. `probe` asks the server over that
   * connection.
   */
  usePrimary(
    primary: RestartableConnection,
    { profile, probe }: { readonly profile: string | undefined; readonly probe: Probe },
  ): void {
    const isFirst = this.#primary === undefined
    this.#state = { ...this.#state, profile }
    this.#primary = primary
    this.#probe = probe
    this.restart(0, isFirst ? 'starting' : 'restarting')
  }

  /** Starts the server again, and moves all connections to the new process. */
  restart(pauseMs = 0, status: 'starting' | 'restarting' = 'restarting'): void {
    this.#start.abort()
    this.#start = new AbortController()
    const { signal } = this.#start
    const { wire } = this.#options
    const startedAt = performance.now()
    this.#ready.resolve()
    this.#ready = createResolvers()
    this.onRestart()
    this.#set({ status, notice: undefined, reason: undefined, pids: [] })
    for (const connection of this.#connections) connection.renew()
    this.#work = this.#work
      .then(async () => {
        if (pauseMs > 0) await sleep(pauseMs)
        // A call may have caused the restart. The first requests to the new process are not those of the call.
        if (!signal.aborted) await wire.leave(() => this.#startProcess(signal, startedAt))
      })
      .catch((error: unknown) => this.#end(signal, error instanceof Error ? error.message : String(error)))
  }

  get #turns(): ProgramInstances | Instances | undefined {
    return this.#program ?? this.#instances
  }

  get #pids(): readonly number[] {
    const pid = this.#primary?.process?.pid
    return this.#turns?.pids ?? (pid === undefined ? [] : [pid])
  }

  /** Ends a process at once, as a crash would, and starts it again after a pause. */
  kill(killed?: Instance): void {
    const process = killed ?? this.#turns?.last ?? this.#primary?.process
    if (process !== undefined) {
      process.kill()
      this.#report(`mcpx dev killed the process ${process.pid ?? ''}`.trimEnd(), process.pid)
    }
    // With several instances, the others keep serving, and the killed one is replaced.
    if (this.#state.isOwn && this.#options.instanceCount === 1) this.restart(afterKillMs)
  }

  async close(): Promise<void> {
    this.#start.abort()
    this.#isClosed = true
    this.#ready.resolve()
    await Promise.all(Array.from(this.#connections, (connection) => connection.close()))
    await this.#work
    await this.#instances?.stop()
  }

  async #waitUntilReady(): Promise<void> {
    if (this.#probing.getStore() === true) return
    while (this.#state.status !== 'ready' && !this.#isClosed) {
      const { status, reason = '' } = this.#state
      const { log, wire } = this.#options
      const [problem] = reason.split('; it wrote', 1)
      if (status === 'ended')
        log.append({ type: 'client', callId: wire.callId, text: `waits for the server: ${problem}` })
      await this.#ready.promise
    }
  }

  async #startProcess(signal: AbortSignal, startedAt: number): Promise<void> {
    this.#output.length = 0
    const silence = setTimeout(() => {
      // A user may take longer to log in.
      if (this.#state.status === 'login_needed') silence.refresh()
      else this.#setSilent(signal)
    }, silentMs)
    try {
      if (!(await this.#replaceProcess(signal))) return
      const { name, revision } = await this.#probing.run(true, () => this.#probe(signal))
      if (signal.aborted) return
      this.#set({
        status: 'ready',
        name,
        revision,
        pids: this.#pids,
        startMs: performance.now() - startedAt,
        reason: undefined,
      })
      this.onReady()
      this.#ready.resolve()
    } finally {
      clearTimeout(silence)
    }
  }

  async #replaceProcess(signal: AbortSignal): Promise<boolean> {
    const { target, env, cwd, instanceCount } = this.#options
    if (target.kind === 'url' || this.#state.transport === 'stdio') return true
    await this.#instances?.stop()
    const instances: Instances = new Instances(
      { ...target, env, cwd },
      {
        onLine: (text, pid) => this.#takeLine(text, pid),
        onEnd: (reason) => this.#instances === instances && this.#end(signal, reason),
        onChange: () => this.#state.status === 'ready' && this.#set({ pids: instances.pids }),
      },
    )
    this.#instances = instances
    // What hangs would keep the next start waiting.
    signal.addEventListener('abort', () => void instances.stop())
    const starting = instances.start(instanceCount)
    // Loaded while the process starts: the connection to a URL needs it later.
    void import('@x/transport-http/client')
    const result = await starting
    if (signal.aborted) return false
    if (result.transport === undefined) {
      this.#end(signal, result.reason)
      return false
    }
    this.#set({ transport: result.transport })
    this.#options.wire.setServer({ hasProcess: true, isHttp: result.transport === 'http' })
    if (result.transport === 'http') {
      this.#url = result.url
      return true
    }
    // A connection starts the process of a server over stdio itself.
    await instances.stop()
    this.#instances = undefined
    return true
  }

  #nextInstance(hasTurns: boolean): Instance | undefined {
    const instance = this.#turns?.next(hasTurns)
    const { pids = [] } = this.#program ?? {}
    // The program replaces its processes without a notice.
    if (pids.some((pid) => !this.#state.pids.includes(pid))) this.#set({ pids })
    return instance && { ...instance, kill: () => this.kill(instance) }
  }

  #open(revision: WantedRevision, owner: () => RestartableConnection): AnyConnection {
    const { wire, http, env, cwd, target, otherToken } = this.#options
    if (this.#url !== undefined) {
      const server = { otherToken, next: (hasTurns: boolean) => this.#nextInstance(hasTurns) }
      return connectAny(this.#url, { revision, http: { ...http, fetch: createWireFetch(wire, server) } })
    }
    if (target.kind === 'url') throw new Error('A target at a URL has one')
    const { signal: start } = this.#start
    const connection = connectAny(
      { command: target.command, args: target.args, env, cwd },
      {
        revision,
        stdio: {
          graceMs: 1000,
          stderr: (text) => this.#report(text, connection.process?.pid),
          wrapStreams: (streams: Parameters<typeof wrapProcessStreams>[0], pid) => {
            const kill = (): void => (owner() === this.#primary ? this.kill() : connection.process?.kill())
            return wrapProcessStreams(streams, wire, { pid, kill })
          },
          onExit: ({ exitCode, signal }) => {
            if (owner() === this.#primary && this.#state.status === 'ready')
              this.#end(start, signal === undefined ? `it ended with code ${exitCode}` : `it ended by ${signal}`)
          },
        },
      },
    )
    return connection
  }

  #end({ aborted }: AbortSignal, reason: string): void {
    if (aborted || this.#state.status === 'ended') return
    this.#set({ status: 'ended', pids: [], reason: this.#withOutput(reason) })
    // Calls that wait say why, and wait on.
    this.#ready.resolve()
    this.#ready = createResolvers()
  }

  #noteLogin(connection: RestartableConnection): void {
    const { pendingLogin: reason } = connection
    if (reason !== undefined) this.#loggingIn.add(connection)
    else if (this.#loggingIn.delete(connection)) this.#options.log.append({ type: 'login', url: undefined })
    if (connection !== this.#primary) return
    const { status } = this.#state
    if (reason === undefined && status === 'login_needed') this.#set({ status: 'starting', reason })
    else if (reason !== undefined && status !== 'ready' && status !== 'ended')
      this.#set({ status: 'login_needed', reason })
  }

  #setSilent({ aborted }: AbortSignal): void {
    if (aborted) return
    this.#set({
      status: 'silent',
      reason: this.#withOutput(`no URL and no answer to the first request after ${silentMs / 1000} s`),
    })
  }

  #withOutput(reason: string): string {
    if (!this.#state.isOwn) return reason
    const lines = new Set(this.#output.filter((line) => line.trim() !== ''))
    if (lines.size === 0) return `${reason}; it wrote nothing`
    return findPortAdvice(this.#options.target, lines) ?? [`${reason}; it wrote:`, ...lines].join('\n')
  }

  #takeLine(text: string, pid: number | undefined): void {
    const { target, instanceCount } = this.#options
    const notice = `${instanceCount} processes serve the module in turns, and ${text.slice(noticeStart.length)}`
    if (target.kind === 'module' && instanceCount > 1 && text.startsWith(noticeStart)) this.#set({ notice })
    this.#report(text, pid)
  }

  #report(text: string, pid: number | undefined): void {
    this.#output.push(text)
    if (this.#output.length > maxOutputLines) this.#output.shift()
    this.#options.log.append({ type: 'output', pid, text: text.slice(0, 10_000) })
  }

  #set(changes: Partial<ServerState>): void {
    this.#state = { ...this.#state, ...changes }
    this.#options.log.append({ type: 'server', server: this.#state })
  }
}

function createResolvers(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve = (): void => {}
  const promise = new Promise<void>((resolvePromise) => {
    resolve = resolvePromise
  })
  return { promise, resolve }
}
