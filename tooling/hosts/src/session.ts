import type { JsonObject } from '@x/schema'
import type { Model } from './model/server.ts'
import { type Terminal, waitFor } from './terminal.ts'
import type { ServerEntry } from './serve.ts'

/** A host, and how it is started. */
export interface Host {
  readonly name: string
  readonly kind: 'agent' | 'tool' | 'library'
  /** The package of the host, and others that it needs. */
  readonly packages: readonly [string, ...string[]]
  /** Why the host has no servers over stdio, if it has none. */
  readonly overHttpAlone?: string
  start(setup: Setup): Promise<Session>
}

/** What a driver gets to start its host. */
export interface Setup {
  /** The PATH with the programs of the host and a browser. */
  readonly path: string
  /** The folder in which the packages of the host are installed. */
  readonly folder: string
  /** An empty folder, which is the home of the user. */
  readonly home: string
  readonly server: ServerEntry
  readonly model: Model
}

/** A host that runs with one server. */
export interface Session {
  /** Calls a tool as the model of the host does, and returns what the model reads of the result. */
  call(tool: string, args?: JsonObject, during?: () => Promise<void>): Promise<string>
  /** Waits until the user sees a text, and returns all that they see. */
  see(pattern: RegExp, timeoutMs?: number): Promise<string>
  /** Waits until the model reads a text outside of the result of a call. */
  readonly hear?: (text: string) => Promise<string>
  /** Fills in the form on the screen, or agrees to open a page if there are no values. */
  readonly answer?: (...values: readonly string[]) => Promise<void>
  readonly cancel?: () => Promise<void>
  /** Takes a prompt of the server, and returns what the model reads. */
  readonly prompt?: (name: string, args: Readonly<Record<string, string>>) => Promise<string>
  /** Reads a resource, and returns what the model reads. */
  readonly read?: (uri: string) => Promise<string>
  /** What the host has no way to do, and where that was seen. */
  readonly lacks?: Readonly<Partial<Record<'prompt' | 'resource' | 'progress' | 'cancellation', string>>>
  close(): Promise<void>
}

/** What was seen instead of what was expected. */
export class NotSeen extends Error {}

/** The host has no way to do it, whichever server it talks to. */
export class Lacking extends NotSeen {}

/** The host may have a way to do it, and its driver has none. */
export class NotDriven extends NotSeen {}

/** How the user of a terminal host acts. */
export interface TerminalSessionOptions {
  readonly terminal: Terminal
  readonly model: Model
}

/** What the model of a terminal host can be asked to do. */
export interface TerminalSession extends Pick<Session, 'call' | 'see' | 'hear' | 'close'> {
  /** Types a prompt, and returns what the model reads. */
  submit(text: string): Promise<string>
}

const turnMs = 15_000
const maxPresses = 5

/** Talks to a host in a terminal, whose model is the stand-in. */
export function terminalSession({ terminal, model }: TerminalSessionOptions): TerminalSession {
  const submit = async (text: string, during?: () => Promise<void>): Promise<void> => {
    await waitUntilIdle(terminal)
    const before = model.turns.length
    await terminal.type(text)
    // A menu opens below a command, and takes the key before it has found the command.
    if (text.startsWith('/')) await waitUntilIdle(terminal)
    const arrived = (): true | undefined => (model.turns.length > before ? true : undefined)
    // A host that still starts ignores the key.
    for (let presses = 0; presses === 0 || (presses < maxPresses && !arrived()); presses += 1) {
      await terminal.press('Enter')
      await waitFor(arrived, { timeoutMs: 2000, describe: () => '' }).catch(() => {})
    }
    await during?.()
  }
  const result = <T>(look: () => T | undefined): Promise<T> =>
    waitFor(look, { timeoutMs: turnMs, describe: async () => `no answer; the screen:\n${await terminal.screen()}` })
  return {
    async see(pattern, timeoutMs) {
      const seen = await terminal.see(pattern, timeoutMs)
      // A form that is drawn in parts takes no keys yet.
      await waitUntilIdle(terminal).catch(() => {})
      return seen
    },
    hear: (text) => result(() => model.turns.find(({ user }) => user.includes(text))?.user),
    async submit(text) {
      const before = model.turns.length
      await submit(text)
      return result(() => model.turns.slice(before).find(({ tools }) => tools.length > 0)?.user)
    },
    async call(tool, args = {}, during) {
      const before = model.turns.length
      await submit(`CALL ${tool} ${JSON.stringify(args)}`, during)
      return result(() => resultIn(model, before, tool))
    },
    close: () => terminal.close(),
  }
}

/** Returns what a model read of the result of a call, or that it has no such tool. */
export function resultIn(model: Model, before: number, tool: string): string | undefined {
  const turns = model.turns.slice(before)
  const answered = turns.find(({ results }) => results.length > 0)
  if (answered !== undefined) return answered.results.join('\n')
  const asked = turns.find(({ user, called }) => user.includes(`CALL ${tool} `) && called === undefined)
  return asked && asked.tools.length > 0 ? `the model has no tool "${tool}"` : undefined
}

/** Waits until the screen does not change any more: a host that works shows that it does. */
async function waitUntilIdle(terminal: Terminal): Promise<void> {
  let last = ''
  let since = performance.now()
  const look = async (): Promise<true | undefined> => {
    const now = await terminal.screen()
    if (now !== last) [last, since] = [now, performance.now()]
    return performance.now() - since > 400 ? true : undefined
  }
  await waitFor(look, { timeoutMs: turnMs, describe: () => `the screen did not come to rest:\n${last}` })
}
