import { spawn } from 'node:child_process'
import { readdir, readFile, rm } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import * as z from 'zod'
import type { Check } from './evaluate-scenario.ts'

const folder = new URL('../suite/node_modules/', import.meta.url)
const node = fileURLToPath(new URL('node/bin/node', folder))
const program = fileURLToPath(new URL('@modelcontextprotocol/conformance/dist/index.js', folder))
const results = new URL('../.results/', import.meta.url)

/** The exit code and the output of the suite's process. */
export interface SuiteExit {
  readonly exitCode: number
  readonly output: string
}

/** Runs the suite on the version of Node that it requires, which differs from that of the packages. */
export function runSuite(args: readonly string[]): Promise<SuiteExit> {
  return new Promise((resolve, reject) => {
    const child = spawn(node, [program, ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.stderr.setEncoding('utf8').on('data', (text: string) => (output += text))
    child.once('error', (cause) => reject(new Error('the suite did not start: run `pnpm install`', { cause })))
    child.once('close', (code) => resolve({ exitCode: code ?? 1, output }))
  })
}

/** Runs one scenario with its own output folder, and reads the checks. A skipped scenario has none. */
export async function runScenario(
  name: string,
  args: readonly string[],
): Promise<SuiteExit & { readonly checks: readonly Check[] }> {
  const output = fileURLToPath(new URL(`${args[0] ?? 'suite'}/${name}/`, results))
  await rm(output, { recursive: true, force: true })
  const exit = await runSuite([...args, '--scenario', name, '--output-dir', output])
  return { ...exit, checks: await readChecks(output) }
}

const checkFile = z.array(z.object({ id: z.string(), status: z.string(), errorMessage: z.string().optional() }))

async function readChecks(output: string): Promise<readonly Check[]> {
  const files = await readdir(output, { recursive: true }).catch(() => [])
  const path = files.find((file) => file.endsWith('checks.json'))
  if (path === undefined) return []
  return checkFile.parse(JSON.parse(await readFile(`${output}/${path}`, 'utf8')))
}
