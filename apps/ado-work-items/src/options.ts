import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '@apps/front/usage'

/** The parsed command line. */
export interface Options {
  /** Ends after the walk-through in place of going on serving. */
  readonly once: boolean
  /** 0 picks a free one. */
  readonly port: number
  readonly instances: number
  /** Asks the person at the terminal when `true`; when absent, only in a terminal, unless the run ends at once. */
  readonly ask?: boolean | undefined
  /** The file that answers in the place of a person. */
  readonly answers?: string | undefined
  readonly help: boolean
}

/** The text of `--help`. */
export const usage = `Usage: npm start -- [options]

Starts the reference server for work items of Azure DevOps, walks through it, and goes on serving. In a terminal it then
asks you to resolve a bug yourself.

  --once             end after the walk-through; the exit code says whether it went as expected
  --port <number>    the port of the server (4522); 0 picks a free one
  --instances <n>    how many processes share the port, 1 to 16 (3)
  --ask              ask in the terminal, also with --once; --no-ask never does
  --answers <file>   answer from a JSON file instead, such as {"work_item": {"workItemId": 4533},
                     "resolution": {"resolution": "Fixed"}}; null declines to answer
  --help             show this

Without AZURE_DEVOPS_ORG, AZURE_DEVOPS_PROJECT and AZURE_DEVOPS_TOKEN it starts an emulator of Azure DevOps, with
work items to play with. With them it talks to the real one, and its walk-through only reads.

Tasks are kept in the PostgreSQL that TASKS_DATABASE names, as in postgres://user:password@host:5432/database. Without
it one is started that ends with this program.
`

/** The options in the arguments of a command line. Throws {@link UsageError}. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parse(args)
  if (values.ask !== undefined && values.answers !== undefined) {
    throw new UsageError('--answers answers in the place of a person: leave out --ask and --no-ask')
  }
  return {
    ask: values.ask,
    answers: values.answers,
    once: values.once ?? false,
    help: values.help ?? false,
    port: wholeNumber('--port', values.port ?? '4522', [0, 65_535]),
    instances: wholeNumber('--instances', values.instances ?? '3', [1, 16]),
  }
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowNegative: true,
      options: {
        once: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        ask: { type: 'boolean' },
        answers: { type: 'string' },
        port: { type: 'string' },
        instances: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
