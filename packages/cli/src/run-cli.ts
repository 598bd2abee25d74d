import { Command, CommanderError } from 'commander'
import { describeError, type ExitCode, exitCodeOf } from './cli-error.ts'
import { type CliIo, hasColors, widthOf } from './cli-io.ts'
import { joinTargetWords } from './calls/target.ts'
import type { CommandHost } from './command.ts'
import { createCommands } from './commands/create-commands.ts'
import { readOwnManifest } from './package-root.ts'
import { toDisplayJson, toDisplayText } from './terminal/display-text.ts'

/** Runs a command line, and returns its exit code. Every error becomes a message on the standard error. */
export async function runCli(args: readonly string[], io: CliIo): Promise<ExitCode> {
  const host: CommandHost = { io, exitCode: 0 }
  try {
    await createProgram(host).parseAsync([...joinTargetWords(args)], { from: 'user' })
    return host.exitCode
  } catch (error) {
    // Commander has written its message.
    if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : 2
    return writeError(error, args, io)
  }
}

function createProgram(host: CommandHost): Command {
  const program = new Command('mcpx')
    .description('Checks MCP servers, calls them, and manages their tasks and keys.')
    .version(readOwnManifest().version, '--version', 'write the version')
  for (const command of createCommands(host)) program.addCommand(command)
  configure(program, host.io)
  return program
}

/** Commander would write to the console, and end the process. */
function configure(command: Command, io: CliIo): void {
  const { output, errorOutput } = io
  command.helpCommand(false)
  command.exitOverride().configureOutput({
    writeOut: (text) => void output.write(text),
    writeErr: (text) => void errorOutput.write(text),
    getOutHelpWidth: () => widthOf(io) ?? defaultWidth,
    getErrHelpWidth: () => widthOf(io) ?? defaultWidth,
    getOutHasColors: () => hasColors(io),
    getErrHasColors: () => hasColors(io),
    outputError: (text, write) => write(text.replace(/^error: /, 'mcpx: ')),
  })
  for (const subcommand of command.commands) configure(subcommand, io)
}

const defaultWidth = 100

function writeError(error: unknown, args: readonly string[], { output, errorOutput, signal }: CliIo): ExitCode {
  const text = signal.aborted ? 'Stopped' : toDisplayText(describeError(error)).replaceAll('\n', '\n  ')
  if (args.includes('--json')) output.write(`${toDisplayJson({ error: { message: text } }, output)}\n`)
  errorOutput.write(`mcpx: ${text}\n`)
  return exitCodeOf(error)
}
