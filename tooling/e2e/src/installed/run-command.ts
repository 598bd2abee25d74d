import { spawn } from 'node:child_process'

/**
 * Runs a program to its end and resolves to its output.
 *
 * @param place The working directory, or one with variables beside those of this process.
 * @throws Error with the program's output when it fails or takes more than five minutes.
 */
export function runCommand(
  command: string,
  args: readonly string[],
  place: string | { readonly folder: string; readonly env: Readonly<Record<string, string>> },
): Promise<string> {
  const { folder, env } = typeof place === 'string' ? { folder: place, env: {} } : place
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, {
      cwd: folder,
      timeout: 300_000,
      stdio: ['ignore', 'pipe', 'pipe'],
      env: { ...cleanEnvironment(), ...env },
    })
    let output = ''
    let errors = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (errors += text))
    child.once('error', reject)
    child.once('close', (code, signal) => {
      if (code === 0) return resolve(output)
      reject(new Error(`${command} ${args.join(' ')} ended with ${code ?? signal} in ${folder}:\n${output}${errors}`))
    })
  })
}

// Variables that pnpm and vitest set for their children would change the behaviour of npm and the program.
function cleanEnvironment(): NodeJS.ProcessEnv {
  const entries = Object.entries(process.env).filter(
    ([name]) => !/^(npm_|pnpm_|vitest|node_options|node_env$)/i.test(name),
  )
  return Object.fromEntries(entries)
}
