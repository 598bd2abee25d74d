import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '@apps/front/usage'

/** The parsed command line. */
export interface Options {
  /** Ends after the walk-through. */
  readonly once: boolean
  /** The port of the endpoint; 0 picks a free one. */
  readonly port: number
  readonly help: boolean
}

/** The text of `--help`. */
export const usage = `Usage: npm run start:gateway -- [options]

Starts three MCP servers and two instances of a gateway in front of them, walks through the gateway as a host does, and
continues to serve.

  --once             end after the walk-through; the exit code is 0 if every step went as expected
  --port <number>    the port of the endpoint (4540, or a free one with --once); 0 picks a free one
  --help             show this
`

/** The options in the arguments of a command line. Throws a `UsageError`. */
export function parseOptions(args: readonly string[]): Options {
  const { once = false, help = false, port } = parse(args)
  return { once, help, port: wholeNumber('--port', port ?? (once ? '0' : '4540'), [0, 65_535]) }
}

function parse(args: readonly string[]) {
  try {
    const options = {
      once: { type: 'boolean' },
      help: { type: 'boolean', short: 'h' },
      port: { type: 'string' },
    } as const
    return parseArgs({ args: [...args], options }).values
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
