import { formatCount, messageOf } from '@x/core'
import { createClient } from '@x/client'
import { gateway, type GatewayOptions } from '@x/gateway'
import { sayWaiting } from '../calls/unanswered-requests.ts'
import type { ExitCode } from '../cli-error.ts'
import type { CliIo } from '../cli-io.ts'
import type { CommandContext } from '../command.ts'
import { type Column, printTable } from '../output/printer.ts'
import { readSettings } from './read-settings.ts'

interface UpstreamReport {
  readonly upstream: string
  readonly tools: number | null
  readonly problem: string | null
}

const notAsked = 'not asked: each caller has a credential of its own'

const columns: readonly Column<UpstreamReport>[] = [
  { title: 'UPSTREAM', text: ({ upstream }) => upstream },
  { title: 'FOUND', text: ({ problem, tools }) => problem ?? (tools === null ? notAsked : formatCount(tools, 'tool')) },
]

/**
 * Connects to each upstream of a file, and lists its tools. The exit code is 1 if one of them gives no answer, or has a
 * rule that matches no tool, or a tool that is withheld.
 */
export async function checkGateway(
  { io, printer }: CommandContext,
  { config }: { readonly config: string },
): Promise<ExitCode> {
  const { gateway: options } = await readSettings(config, io)
  const names = Object.keys(options.upstreams)
  const reports = await Promise.all(names.map((name) => testUpstream(name, options, io)))
  if (printer.isJson) printer.json({ upstreams: reports })
  else printTable(printer, columns, reports)
  return reports.some(({ problem }) => problem !== null) ? 1 : 0
}

/** `connectAny` gives a program a minute to start, and then starts it once more. */
const startTimeoutMs = 150_000

/** Some servers show a tool that asks only to a client that can answer. No tool is called here, but roots are listed. */
const capabilities = { elicitation: { form: {}, url: {} }, sampling: {} }
const client = { name: 'mcpx', version: '1.0.0', capabilities, roots: () => [] }

async function testUpstream(upstream: string, options: GatewayOptions, io: CliIo): Promise<UpstreamReport> {
  const { [upstream]: checked } = options.upstreams
  // Tools of an API are planned from its document, and nothing is sent.
  if (checked !== undefined && 'server' in checked)
    return listStarted(upstream, { ...options, upstreams: { [upstream]: checked } })
  if (checked === undefined || !('connect' in checked) || checked.credential !== undefined)
    return { upstream, tools: null, problem: null }
  try {
    const connection = checked.connect({ principal: undefined, auth: undefined })
    const started = { ...checked, connect: () => connection }
    try {
      // A gateway waits only five seconds for a list, so the upstream starts before it.
      const use = [sayWaiting(upstream, io, () => connection.closed.aborted)]
      await createClient(connection, { ...client, use }).discover({ timeoutMs: startTimeoutMs, maxResendMs: 0 })
      return await listStarted(upstream, { ...options, upstreams: { [upstream]: started } })
    } finally {
      await connection.close()
    }
  } catch (error) {
    return { upstream, tools: 0, problem: messageOf(error) }
  }
}

/** Through a gateway of its own, so that the upstream's rules and credentials apply. */
async function listStarted(upstream: string, options: GatewayOptions): Promise<UpstreamReport> {
  const problems = new Set<string>()
  const server = gateway({
    ...options,
    log: ({ level, code, message }) => {
      if (level === 'error' || code === 'tool_rule_unmatched') problems.add(message)
      if (code === 'tool_withheld') problems.add(`${message}: mcpx gateway accept ${upstream} TOOL --pins FILE`)
    },
  })
  try {
    const tools = await createClient(server, client).listTools()
    return { upstream, tools: tools.length, problem: problems.size === 0 ? null : [...problems].join('; ') }
  } finally {
    await server.close()
  }
}
