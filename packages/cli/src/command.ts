import { Command, InvalidArgumentError } from 'commander'
import type { ExitCode } from './cli-error.ts'
import type { CliIo } from './cli-io.ts'
import { Printer } from './output/printer.ts'

/** What a command runs with. */
export interface CommandContext {
  readonly io: CliIo
  readonly printer: Printer
}

/** Where commands write, and leave their exit code. */
export interface CommandHost {
  readonly io: CliIo
  exitCode: ExitCode
}

/**
 * Loads the work of a command when it runs, so that one command does not load the packages of all others. `args` are
 * the positional arguments.
 */
export type LoadWork<Options> = () => Promise<
  (context: CommandContext, options: Options, args: readonly string[]) => Promise<ExitCode>
>

/** Every command has `--json`, an example in its help, and work that is loaded when it runs. */
export function createCommand<Options>(
  host: CommandHost,
  texts: {
    /** Name and positional arguments as commander writes them, such as `show <id>`. */
    readonly usage: string
    readonly description: string
    /** A command line that works when it is copied, without `mcpx`. */
    readonly example: string
  },
  loadWork: LoadWork<Options>,
): Command {
  const [name = '', ...parameters] = texts.usage.split(' ')
  const command = new Command(name).description(texts.description)
  for (const parameter of parameters) command.argument(parameter)
  return command
    .option('--json', 'write JSON to the standard output')
    .addHelpText('after', `\nExample:\n  mcpx ${texts.example}`)
    .action(async () => {
      // The cast is safe: commander parses the options that the caller declares for this command.
      const options = command.opts() as Options & { readonly json?: boolean }
      const work = await loadWork()
      host.exitCode = await work({ io: host.io, printer: new Printer(host.io, options.json === true) }, options, [
        ...command.args,
      ])
    })
}

/** A whole number of at least one, for an option. */
export function parseCount(text: string): number {
  if (!/^[1-9]\d{0,8}$/.test(text)) throw new InvalidArgumentError('Write a whole number from 1.')
  return Number(text)
}

export function parsePort(text: string): number {
  if (!/^\d{1,5}$/.test(text) || Number(text) > 65_535)
    throw new InvalidArgumentError('Write a number from 0 to 65535.')
  return Number(text)
}

const unitMs: ReadonlyMap<string | undefined, number> = new Map([
  ['s', 1000],
  ['m', 60_000],
  ['h', 3_600_000],
  ['d', 86_400_000],
])

/** A time span such as `90s`, `5m`, `2h` or `1d`, in milliseconds, for an option. */
export function parseTimeSpan(text: string): number {
  const [, digits, unit] = /^(\d{1,9})(.)$/.exec(text) ?? []
  const factor = unitMs.get(unit)
  if (factor === undefined) throw new InvalidArgumentError('Write a number and s, m, h or d, such as 5m.')
  return Number(digits) * factor
}
