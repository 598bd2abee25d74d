import { spawn } from 'node:child_process'
import type { Measured } from './measure.ts'

/** Runs the compiled or bundled program in a process of its own whose heap nothing else fills. */
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
      // The program is this package's own, and prints what its type says.
      if (code === 0) resolve(JSON.parse(printed) as Measured)
      else reject(new Error(`the measuring process ended with code ${code}`))
    })
  })
}
