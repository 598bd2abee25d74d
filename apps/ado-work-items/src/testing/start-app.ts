import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const main = builtModule('main')
const settings = /^(?:AZURE_DEVOPS_|TASKS_|AUTH_|STATE_KEYS|PORT$|HOST$|ALLOWED_HOSTS$)/
const running: ChildProcess[] = []

/** The built application, started in processes of its own. */
export interface StartedApp {
  readonly child: ChildProcess
  /** Resolves to the URL after the walk-through. Rejects if the process exits before. */
  readonly url: Promise<string>
  /** Resolves to the address of the page after the walk-through. */
  readonly page: Promise<string>
  readonly ended: Promise<{ readonly code: unknown; readonly output: string; readonly errors: string }>
}

/** Returns the path of a built module. */
export function builtModule(name: string): string {
  return join(import.meta.dirname, '../../dist', `${name}.js`)
}

/** Throws if the application is not built. */
export function checkBuilt(): void {
  if (existsSync(main)) return
  throw new Error('dist/main.js is missing: run "pnpm turbo run build --filter=@apps/ado-work-items..."')
}

/** Kills the started processes that still run. */
export function endStarted(): void {
  for (const child of running.splice(0)) child.kill('SIGKILL')
}

/** Returns true if a process has not ended. */
export function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Returns the command that starts the application or another built module. It has only the given settings. */
export function command(
  args: readonly string[],
  environment: Readonly<Record<string, string>> = {},
  module = main,
): { readonly command: string; readonly args: readonly string[]; readonly env: NodeJS.ProcessEnv } {
  const inherited = Object.entries(process.env).filter(([name]) => !settings.test(name))
  const env = { ...Object.fromEntries(inherited), NO_COLOR: '1', ...environment }
  return { command: process.execPath, args: ['--conditions=dist', module, ...args], env }
}

/** Starts the application with arguments. Its environment has only the given settings. */
export function start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): StartedApp {
  const { command: program, args: all, env } = command(args, environment)
  const child = spawn(program, all, { env, stdio: ['ignore', 'pipe', 'pipe'] })
  running.push(child)
  let [output, errors] = ['', '']
  child.stderr.on('data', (chunk) => (errors += String(chunk)))
  child.stdout.on('data', (chunk) => (output += String(chunk)))
  const printed = (pattern: RegExp): Promise<string> => {
    const address = new Promise<string>((resolve, reject) => {
      child.stdout.on('data', () => {
        const found = pattern.exec(output)?.[1]
        if (found !== undefined) resolve(found)
      })
      child.once('exit', () => reject(new Error(`it ended before it printed ${pattern}:\n${output}\n${errors}`)))
    })
    address.catch(() => {})
    return address
  }
  const url = printed(/^Serving on (\S+)/m)
  const page = printed(/^Call it, and kill its instances, at (\S+)/m)
  // The pipes close when the last process that holds them exits, including instances and emulator.
  const ended = once(child, 'close').then(([code]) => ({ code, output, errors }))
  return { child, url, page, ended }
}
