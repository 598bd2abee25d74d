import { parseArgs } from 'node:util'
import type { Leg } from './requirements.ts'

/** The parsed command line. */
export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'serve'; readonly port: number | undefined }
  | {
      readonly kind: Leg
      readonly revision: string
      readonly scenarios: readonly string[]
      readonly port: number | undefined
    }

/** The usage text of the command. */
export const usage = `pnpm conformance server <revision> [scenario…] [--port N]   the official suite against the fixture server
pnpm conformance client <revision> [scenario…]              the fixture client against the official suite
pnpm conformance serve [--port N]                           the fixture server alone, until it is interrupted

A revision is a date, such as 2026-07-28. Known failures are listed in tooling/conformance/expected-failures.json.`

/**
 * Parses the arguments after the command's name.
 *
 * @throws Error if an argument is invalid.
 */
export function parseCommandLine(args: readonly string[]): Command {
  const { values, positionals } = parseArgs({
    args: args.filter((argument) => argument !== '--'),
    allowPositionals: true,
    options: { port: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  })
  if (values.help === true) return { kind: 'help' }
  const [kind, ...rest] = positionals
  const port = readPort(values.port)
  if (kind === 'serve') return readServe(rest, port)
  if (kind === 'server' || kind === 'client') return readLeg(kind, rest, port)
  throw new Error(`expected server, client or serve, got "${kind ?? ''}"`)
}

function readServe([extra]: readonly string[], port: number | undefined): Command {
  if (extra !== undefined) throw new Error(`serve takes no argument, got "${extra}"`)
  return { kind: 'serve', port }
}

function readLeg(kind: Leg, [revision, ...scenarios]: readonly string[], port: number | undefined): Command {
  if (revision === undefined) throw new Error(`${kind} needs a revision, such as 2026-07-28`)
  if (!/^\d{4}-\d{2}-\d{2}$/.test(revision)) {
    throw new Error(`"${revision}" is no revision; give a date, such as 2026-07-28`)
  }
  if (kind === 'client' && port !== undefined) throw new Error('client takes no --port: the suite chooses its port')
  return { kind, revision, scenarios, port }
}

function readPort(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const port = Number(text)
  if (!/^\d+$/.test(text) || port > 65_535) throw new Error(`--port takes a number from 0 to 65535, got "${text}"`)
  return port
}
