import { PassThrough, Writable } from 'node:stream'
import type { FakeTerminal } from '@tooling/vitest/fake-terminal'
import type { ExitCode } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import { runCli } from '../run-cli.ts'

export interface CommandResult {
  readonly code: ExitCode
  readonly out: string
  readonly err: string
  /** The standard output, parsed. */
  json(): unknown
}

/** Without `columns`, the output is no terminal. */
export interface RunOptions {
  readonly columns?: number
  readonly env?: CliIo['env']
  readonly signal?: AbortSignal
  /** Prompts are written to the standard error. */
  readonly person?: FakeTerminal
}

/** In this process. */
export async function runCommand(args: readonly string[], options: RunOptions = {}): Promise<CommandResult> {
  const { columns, env = {}, signal = new AbortController().signal, person } = options
  const output = Object.assign(collectText(), columns === undefined ? {} : { isTTY: true, columns })
  const errorOutput = collectText()
  const input =
    person === undefined
      ? new PassThrough()
      : Object.assign(person.input, { isTTY: true, setRawMode: () => person.input })
  const code = await runCli(args, { input, output, errorOutput: person?.output ?? errorOutput, env, signal })
  return { code, out: output.text(), err: person?.raw() ?? errorOutput.text(), json: () => JSON.parse(output.text()) }
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
