import { spawn } from 'node:child_process'
import type { Measured } from './measure.ts'

/** Runs the compiled or bundled program in a separate process, whose heap has no other data. */
export function runProgram(
  path: string,
  args: readonly string[],
  conditions: readonly string[] = [],
): Promise<Measured> {
  return new Promise((resolve, reject) => {
    const node = ['--expose-gc', ...conditions.map((condition) => `--conditions=${condition}`), path, ...args]
    const child = spawn(process.execPath, node, { stdio: ['ignore', 'pipe', 'inherit'] })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
    child.once('error', reject)
    child.once('close', (code) => {
      // The program belongs to this package, and prints a value of this type.
      if (code === 0) resolve(JSON.parse(printed) as Measured)
      else reject(new Error(`the measuring process ended with code ${code}`))
    })
  })
}
