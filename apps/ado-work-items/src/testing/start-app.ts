import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const main = join(import.meta.dirname, '../../dist/main.js')
const running: ChildProcess[] = []

/** The application, started as it was built, in processes of its own. */
export interface StartedApp {
  readonly child: ChildProcess
  /** The address, once it is printed; rejects when the process exits before. */
  readonly url: Promise<string>
  readonly ended: Promise<{ readonly code: number | null; readonly output: string; readonly errors: string }>
}

/** Throws when there is nothing to start. */
export function checkBuilt(): void {
  if (existsSync(main)) return
  throw new Error('dist/main.js is missing: run "pnpm turbo run build --filter=@apps/ado-work-items..."')
}

/** Ends what was started and is there still. */
export function endStarted(): void {
  for (const child of running.splice(0)) child.kill('SIGKILL')
}

/** Starts the application with arguments; of the settings in the environment it has those that are given. */
export function start(args: readonly string[], environment: Readonly<Record<string, string>> = {}): StartedApp {
  const inherited = Object.entries(process.env).filter(
    ([name]) => !/^(?:AZURE_DEVOPS_|TASKS_)/.test(name) && name !== 'STATE_KEY',
  )
  const env = { ...Object.fromEntries(inherited), NO_COLOR: '1', ...environment }
  const child = spawn(process.execPath, ['--conditions=dist', main, ...args], {
    env,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.push(child)
  let [output, errors] = ['', '']
  child.stderr.on('data', (chunk) => (errors += String(chunk)))
  const url = new Promise<string>((resolve, reject) => {
    child.stdout.on('data', (chunk) => {
      output += String(chunk)
      const served = /^Serving on (\S+)/m.exec(output)?.[1]
      if (served !== undefined) resolve(served)
    })
    child.once('exit', () => reject(new Error(`it ended before it served:\n${output}\n${errors}`)))
  })
  url.catch(() => {})
  // The pipes close when the last process that holds them is gone, the instances and the emulator among them.
  const ended = new Promise<{ code: number | null; output: string; errors: string }>((resolve) => {
    child.once('close', (code) => resolve({ code, output, errors }))
  })
  return { child, url, ended }
}
