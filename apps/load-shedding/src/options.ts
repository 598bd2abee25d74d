import { parseArgs } from 'node:util'
import { UsageError, wholeNumber } from '@apps/front/usage'
import type { BalancerName } from './fleet/balancer.ts'

/** The parsed command line. */
export interface Options {
  /** Runs one trial without a page, and exits. */
  readonly once: boolean
  /** The port of the page, or the next free one; 0 picks a free one. */
  readonly port: number
  /** The port of the endpoint; 0 picks a free one. */
  readonly mcpPort: number
  readonly instances: number
  readonly balancer: BalancerName
  readonly sheds: boolean
  readonly help: boolean
}

/** The text of `--help`. */
export const usage = `Usage: npm run start:shedding -- [options]

Starts several instances of a server with long calls, and generates uneven load. A page and the terminal show how
overloaded and stopping instances hand running calls off to other instances.

  --once             overload an instance, restart every one in turn, and exit; the exit code is 0 if no call was
                     lost, every result was correct and no work was repeated
  --balancer <name>  cluster (Node's own, the default), nginx or haproxy
  --no-shedding      start with shedding switched off
  --instances <n>    the number of instances, 2 to 8 (3)
  --port <number>    the port of the page (4530, or the next free one); 0 picks a free one
  --mcp-port <n>     the port of the MCP endpoint (4531); 0 picks a free one
  --help             print this text
`

/** Parses the arguments of the command line. Throws a `UsageError` for invalid ones. */
export function parseOptions(args: readonly string[]): Options {
  const { values } = parse(args)
  return {
    once: values.once ?? false,
    help: values.help ?? false,
    sheds: values.shedding ?? true,
    balancer: balancerNamed(values.balancer ?? 'cluster'),
    port: wholeNumber('--port', values.port ?? '4530', [0, 65_535]),
    mcpPort: wholeNumber('--mcp-port', values['mcp-port'] ?? '4531', [0, 65_535]),
    instances: wholeNumber('--instances', values.instances ?? '3', [2, 8]),
  }
}

function balancerNamed(name: string): BalancerName {
  if (name === 'cluster' || name === 'nginx' || name === 'haproxy') return name
  throw new UsageError(`--balancer is "${name}"; it should be cluster, nginx or haproxy`)
}

function parse(args: readonly string[]) {
  try {
    return parseArgs({
      args: [...args],
      allowNegative: true,
      options: {
        once: { type: 'boolean' },
        help: { type: 'boolean', short: 'h' },
        shedding: { type: 'boolean' },
        balancer: { type: 'string' },
        port: { type: 'string' },
        'mcp-port': { type: 'string' },
        instances: { type: 'string' },
      },
    })
  } catch (error) {
    throw new UsageError(error instanceof Error ? error.message : String(error))
  }
}
