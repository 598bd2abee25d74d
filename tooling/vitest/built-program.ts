import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { afterEach, beforeAll } from 'vitest'

/** A started program of an application. */
export interface StartedProgram {
  readonly child: ChildProcess
  /** The match of the greeting. Rejects if the program ends before it prints the greeting. */
  readonly greeting: Promise<RegExpExecArray>
  readonly ended: Promise<{ readonly code: unknown; readonly output: string }>
}

/**
 * Returns a function that starts a built application in a new process. After each test the processes that still run are
 * killed.
 */
export function builtProgram(main: string, greetingPattern: RegExp): (args: readonly string[]) => StartedProgram {
  const started: ChildProcess[] = []
  beforeAll(() => {
    if (!existsSync(main)) throw new Error(`${main} is missing: run "pnpm build"`)
  })
  afterEach(() => {
    for (const child of started.splice(0)) child.kill('SIGKILL')
  })
  return (args) => {
    const env = { ...process.env, NO_COLOR: '1', FORCE_COLOR: undefined, VITEST: undefined }
    const child = spawn(process.execPath, ['--conditions=dist', main, ...args], {
      env,
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    started.push(child)
    let output = ''
    const ended = once(child, 'close').then(([code]) => ({ code, output }))
    const greeting = new Promise<RegExpExecArray>((resolve, reject) => {
      for (const stream of [child.stdout, child.stderr]) {
        stream.setEncoding('utf8').on('data', (text: string) => {
          output += text
          const found = greetingPattern.exec(output)
          if (found !== null) resolve(found)
        })
      }
      void ended.then(() => reject(new Error(`The program ended before its greeting:\n${output}`)))
    })
    greeting.catch(() => {})
    return { child, greeting, ended }
  }
}
