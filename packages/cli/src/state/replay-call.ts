import { formatCount, isJsonObject, type JsonObject } from '@x/core'
import { createClient } from '@x/client'
import { createCall, journalKey, type JournalStore, type Principal, type Server, withContext } from '@x/exchange'
import { type CallToolResult, errorCodes, McpError, metaKeys, protocolVersion, type RpcResponse } from '@x/schema'
import type { StateReport } from '@x/server/inspect'
import { CliError, type ExitCode } from '../cli-error.ts'
import type { CommandContext } from '../command.ts'
import { readAnswersOption, readJsonOption } from '../json-option.ts'
import { printToolResult } from '../output/tool-result.ts'
import { toDisplayLine } from '../terminal/display-text.ts'
import { loadServer } from './load-server.ts'
import { openReport } from './open-state.ts'

export interface ReplayOptions {
  readonly keysFile: string
  readonly server: string
  readonly tool?: string
  readonly args: string
  readonly answers: string
  readonly principal?: string
}

type ReplayEnd =
  | { readonly end: 'step'; readonly step: string }
  | { readonly end: 'questions'; readonly requests: JsonObject }
  | { readonly end: 'result'; readonly result: JsonObject }
  | { readonly end: 'error'; readonly error: JsonObject }

/** Runs the handler of a call from its `requestState`, and shows where the call stops. No step is executed. */
export async function runReplayCommand(
  { printer, io }: CommandContext,
  options: ReplayOptions,
  [token = '']: readonly string[],
): Promise<ExitCode> {
  const args = readJsonOption('args', options.args)
  const responses = await readAnswersOption(options.answers)
  const principal = options.principal === undefined ? undefined : readPrincipal(options.principal)
  const report = await openReport(token, options.keysFile)
  const server = await loadServer(options.server)
  try {
    const name = options.tool ?? (await findOnlyTool(server))
    const { store, stoppedBefore } = createReplayStore(report, responses)
    const call = withContext(createCall({ signal: io.signal, principal }), journalKey, store)
    const response = await server.exchange(
      { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name, arguments: args, _meta: requestMeta } },
      call,
    )
    const replayEnd = toReplayEnd(response, stoppedBefore())
    if (printer.isJson)
      printer.json({ callId: report.callId, tool: name, recordedSteps: Object.keys(report.steps), ...replayEnd })
    else printReplay(printer, report, replayEnd)
    return exitCodeFor(replayEnd)
  } finally {
    await server.close()
  }
}

/** A client that can answer each kind of question, so that the handler asks as it did in production. */
const requestMeta = {
  [metaKeys.protocolVersion]: protocolVersion,
  [metaKeys.clientInfo]: { name: 'mcpx replay', version: '1.0.0' },
  [metaKeys.clientCapabilities]: {
    elicitation: { form: {}, url: {} },
    sampling: { tools: {}, context: {} },
    roots: {},
  },
}

function readPrincipal(text: string): Principal {
  const { subject, ...rest } = readJsonOption('principal', text)
  if (typeof subject !== 'string') throw new CliError('usage', '--principal has no "subject"')
  // The cast is safe for the handler: a principal of production is what the author made of a token.
  return { ...rest, subject } as Principal
}

async function findOnlyTool(server: Server): Promise<string> {
  const tools = await createClient(server, { name: 'mcpx', version: '1.0.0' }).listTools()
  const [only, ...others] = tools.map(({ name }) => name)
  if (only !== undefined && others.length === 0) return only
  if (tools.length === 0) throw new CliError('failure', 'The server has no tools, so no call can be replayed')
  throw new CliError('usage', `The server has ${tools.length} tools; name the tool of the call with --tool`)
}

/** Stops the call before the first step that is not recorded. */
function createReplayStore({ journal }: StateReport, responses: JsonObject) {
  let step: string | undefined
  const store: JournalStore = {
    journal,
    responses,
    append: () => {},
    commit: (next) => {
      if (next === undefined) return undefined
      step ??= next.step
      // An `McpError` is not logged by the server: a stop is no fault of it.
      return Promise.reject(new McpError(errorCodes.internal, `The replay stops before the step "${next.step}"`))
    },
  }
  return { store, stoppedBefore: () => step }
}

function toReplayEnd(response: RpcResponse, step: string | undefined): ReplayEnd {
  if (step !== undefined) return { end: 'step', step }
  if ('error' in response) return { end: 'error', error: { ...response.error } }
  const { result } = response
  if (result['resultType'] !== 'input_required') return { end: 'result', result }
  return { end: 'questions', requests: isJsonObject(result['inputRequests']) ? result['inputRequests'] : {} }
}

function exitCodeFor(replayEnd: ReplayEnd): ExitCode {
  if (replayEnd.end === 'error') return 1
  return replayEnd.end === 'result' && replayEnd.result['isError'] === true ? 5 : 0
}

function printReplay(
  printer: CommandContext['printer'],
  { callId, startedAt, round, steps }: StateReport,
  replayEnd: ReplayEnd,
): void {
  printer.line(
    `Call ${callId}, which began at ${new Date(startedAt).toISOString()}, after ${formatCount(round, 'round')} of questions.`,
  )
  const recorded = Object.keys(steps).map((key) => `"${key}"`)
  printer.line(recorded.length === 0 ? 'No step is recorded.' : `Recorded steps: ${recorded.join(', ')}.`)
  switch (replayEnd.end) {
    case 'step':
      printer.line(`It stops before the step "${replayEnd.step}", which is not recorded and was not executed.`)
      return
    case 'questions':
      printer.line('It asks:')
      for (const [key, request] of Object.entries(replayEnd.requests))
        printer.line(`  ${toDisplayLine(key)}: ${describeInputRequest(request)}`)
      return
    case 'error':
      printer.line(`It fails: ${toDisplayLine(JSON.stringify(replayEnd.error))}`)
      return
    default:
      printer.line('It ends with the result:')
      // The cast is safe: the server has checked the result of its tool.
      printToolResult(printer, replayEnd.result as unknown as CallToolResult)
  }
}

function describeInputRequest(request: unknown): string {
  if (!isJsonObject(request)) return '-'
  const { method, params } = request
  const message = isJsonObject(params) ? params['message'] : undefined
  return toDisplayLine(typeof message === 'string' ? message : String(method))
}
