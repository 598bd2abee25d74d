import { spawn } from 'node:child_process'

/** Runs the compiled or bundled program in a separate process, whose heap has no other data. */
export function runProgram<Printed>(
  path: string,
  args: readonly string[],
  conditions: readonly string[] = [],
): Promise<Printed> {
  return new Promise((resolve, reject) => {
    const flags = ['--expose-gc', '--max-old-space-size=8192']
    const node = [...flags, ...conditions.map((condition) => `--conditions=${condition}`), path, ...args]
    const child = spawn(process.execPath, node, { stdio: ['ignore', 'pipe', 'inherit'] })
    let printed = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (printed += text))
    child.once('error', reject)
    child.once('close', (code) => {
      // The program belongs to this package, and prints a value of the type that the caller names.
      if (code === 0) resolve(JSON.parse(printed) as Printed)
      else reject(new Error(`the measuring process ended with code ${code}`))
    })
  })
}
