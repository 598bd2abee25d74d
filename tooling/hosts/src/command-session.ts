import { execFile } from 'node:child_process'
import type { Model } from './model/server.ts'
import { resultIn, type Session } from './session.ts'
import { waitFor } from './terminal.ts'

/** A program and its arguments. */
export type Command = readonly [string, ...string[]]

/** How a host without a terminal runs: a process for each call. */
export interface CommandSessionOptions {
  /** Returns the command of a call. */
  readonly call: (tool: string, args: string) => Command
  /** Returns the command that takes a prompt of the server. */
  readonly prompt?: (name: string, args: Readonly<Record<string, string>>) => Command
  /** Returns the command that reads a resource. */
  readonly read?: (uri: string) => Command
  readonly lacks?: Session['lacks']
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The stand-in for the model, if the host has one. What the host prints is the result otherwise. */
  readonly model?: Model
}

const callMs = 30_000

/** Starts a process for each call. The user reads what it prints, and cancels with Ctrl-C. */
export function commandSession({ model, ...options }: CommandSessionOptions): Session {
  let stop: () => void = () => {}
  let printed = ''
  const run = ([file, ...args]: Command): Promise<string> =>
    new Promise((resolve) => {
      const { cwd, env } = options
      const running = { cwd, env: { ...env, NO_COLOR: '1' }, timeout: callMs }
      printed = ''
      const child = execFile(file, args, running, (_, stdout, stderr) => resolve(`${stdout}${stderr}`))
      for (const stream of [child.stdout, child.stderr]) stream?.on('data', (chunk) => (printed += String(chunk)))
      child.stdin?.end()
      stop = () => void child.kill('SIGINT')
    })
  const { prompt, read, lacks = {} } = options
  return {
    lacks,
    async call(tool, args = {}, during) {
      const before = model?.turns.length ?? 0
      const printing = run(options.call(tool, JSON.stringify(args)))
      await during?.()
      const result = await printing
      return model ? (resultIn(model, before, tool) ?? result) : result
    },
    see: (pattern, timeoutMs = 10_000) =>
      waitFor(() => (pattern.test(printed) ? printed : undefined), { timeoutMs, describe: () => printed }),
    cancel: async () => stop(),
    ...(prompt && { prompt: (name, args) => run(prompt(name, args)) }),
    ...(read && { read: (uri) => run(read(uri)) }),
    close: async () => stop(),
  }
}
