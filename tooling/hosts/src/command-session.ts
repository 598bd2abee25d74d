import { execFile } from 'node:child_process'
import type { Model } from './model/server.ts'
import { resultIn, type Session } from './session.ts'

/** How a host without a terminal runs: a process for each call. */
export interface CommandSessionOptions {
  /** Returns the command of a call. */
  readonly command: (tool: string, args: string) => readonly [string, ...string[]]
  readonly cwd: string
  readonly env: Readonly<Record<string, string>>
  /** The stand-in for the model, if the host has one. What the host prints is the result otherwise. */
  readonly model?: Model
}

const callMs = 30_000

/** Starts a process for each call. The user cancels with Ctrl-C. */
export function commandSession({ command, cwd, env, model }: CommandSessionOptions): Session {
  let stop: () => void = () => {}
  const run = ([file, ...args]: readonly [string, ...string[]]): Promise<string> =>
    new Promise((resolve) => {
      const options = { cwd, env: { ...env, NO_COLOR: '1' }, timeout: callMs }
      const child = execFile(file, args, options, (_, stdout, stderr) => resolve(`${stdout}${stderr}`))
      child.stdin?.end()
      stop = () => void child.kill('SIGINT')
    })
  return {
    async call(tool, args = {}, during) {
      const before = model?.turns.length ?? 0
      const printing = run(command(tool, JSON.stringify(args)))
      await during?.()
      const printed = await printing
      return model ? (resultIn(model, before, tool) ?? printed) : printed
    },
    cancel: async () => stop(),
    close: async () => stop(),
  }
}
