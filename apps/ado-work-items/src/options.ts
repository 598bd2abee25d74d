import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '@apps/front/usage'
import { messageOf } from '@x/core'

/** The parsed command line. */
export interface Options {
  /** Exits after the walk-through. Otherwise the server continues to run. */
  readonly once: boolean
  /** The port of the server; 0 selects a free one. */
  readonly port: number
  readonly instances: number
  /** Starts an authorization server, and requires its tokens. */
  readonly auth: boolean
  /** Requires tokens to be bound to the key of the client. */
  readonly dpop: boolean
  /** Serves over stdio, for a host that starts this program. */
  readonly stdio: boolean
  readonly help: boolean
}

/** The text of `--help`. */
export const usage = `Usage: npm start -- [options]

Starts the reference server for work items of Azure DevOps, walks through it, and continues to serve.

  --once             end after the walk-through; the exit code says whether it went as expected
  --port <number>    the port of the server (4522, or a free one with --once); 0 picks a free one
  --instances <n>    how many processes share the port, 1 to 16 (3)
  --auth             require an access token, and start an authorization server for two people and a job
  --dpop             with --auth, bind tokens to the keys of their clients
  --stdio            serve over stdio, for a host that starts this program; nothing else is printed or started
  --help             show this

Without AZURE_DEVOPS_ORG, AZURE_DEVOPS_PROJECT and AZURE_DEVOPS_TOKEN it starts an emulator of Azure DevOps, with
work items to play with. With them it talks to the real one, and its walk-through only reads.

Tasks are kept in the PostgreSQL that TASKS_DATABASE names, as in postgres://user:password@host:5432/database. Without
it one is started that ends with this program.
`

/** Parses the command line. Throws {@link UsageError}. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parse(args)
  const problem = conflictIn(values)
  if (problem !== undefined) throw new UsageError(problem)
  const { once = false, auth = false, dpop = false, stdio = false, help = false } = values
  // A run with `--once` needs no fixed port, and another run may use the default port.
  const port = wholeNumber('--port', values.port ?? (once ? '0' : '4522'), [0, 65_535])
  const instances = wholeNumber('--instances', values.instances ?? '3', [1, 16])
  return { once, port, instances, auth, dpop, stdio, help }
}

/** Describes a conflict between options. Undefined if there is none. */
function conflictIn(values: ReturnType<typeof parse>['values']): string | undefined {
  if (values.dpop === true && values.auth !== true) return '--dpop is about tokens: add --auth'
  const other = values.stdio === true ? Object.keys(values).find((name) => name !== 'stdio') : undefined
  return other === undefined ? undefined : `--stdio serves one host alone: leave out --${other}`
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      options: {
        once: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        auth: { type: 'boolean' },
        dpop: { type: 'boolean' },
        stdio: { type: 'boolean' },
        port: { type: 'string' },
        instances: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError(messageOf(error))
  }
}
