import { PassThrough, Writable } from 'node:stream'
import type { ExitCode } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { runCli } from '../run-cli.ts'

/** The result of a command line. */
export interface CommandResult {
  readonly code: ExitCode
  readonly out: string
  readonly err: string
  /** The standard output, parsed as JSON. */
  json(): unknown
}

/** The terminal and the environment of a command. Without `columns`, the output is no terminal. */
export interface RunOptions {
  readonly columns?: number
  readonly env?: CliIo['env']
  readonly signal?: AbortSignal
}

/** Runs a command line in this process. */
export async function runCommand(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
  const { columns, env = {}, signal = new AbortController().signal } = options
  const output = Object.assign(collectText(), columns === undefined ? {} : { isTTY: true, columns })
  const errorOutput = collectText()
  const code = await runCli(args, { input: new PassThrough(), output, errorOutput, env, signal })
  return { code, out: output.text(), err: errorOutput.text(), json: () => JSON.parse(output.text()) }
}

function collectText(): Writable & { text(): string } {
  let text = ''
  const stream = new Writable({
    write(chunk, _, done) {
      text += String(chunk)
      done()
    },
  })
  return Object.assign(stream, { text: () => text })
}
