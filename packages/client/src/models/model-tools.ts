import { checkArgument, parseJsonObject, stringifyWellFormed } from '@x/core'
import { type CallToolResult, errorCodes, isJsonObject, type JsonObject, type Tool } from '@x/schema'
import { isToolFor } from '@x/schema/internal'
import { type ClientError, isAnswered, isClientError } from '../request/client-error.ts'
import type { CallOptions, ReadOptions } from '../request/call-options.ts'
import { mayServerHaveRun } from '../request/may-have-run.ts'
import { isPermanent, retryAfterMsOf } from '../request/permanent-failure.ts'
import type { CallToolFunction } from '../tools/call-tool.ts'
import { toModelSchema } from './model-schema.ts'

/**
 * Tools for a model, and the way to call them: a client, or an object of yours that lists some of them or asks the user
 * before a call.
 */
export interface ToolSource {
  listTools(options?: ReadOptions): Promise<readonly Tool[]>
  readonly callTool: CallToolFunction
}

/** A client's tools in the format of a model API. */
export interface ModelTools<Definition, Call, Result> {
  /** Put these into the request to the model as its tools. */
  readonly definitions: Definition[]
  /**
   * Makes the tool calls of a model's answer at the same time, with results in the same order; everything else in the
   * answer is ignored, and without calls there are no results. A failed call has a result as well, which says whether to try again. Rejects with
   * `signal.reason` if the signal aborts, and with what a function of yours threw.
   */
  run(calls: readonly Call[] | null | undefined, options?: CallOptions): Promise<Result[]>
}

/** A tool under a name, and with a schema, that model APIs accept. */
export interface ModelTool {
  readonly name: string
  readonly description: string
  readonly schema: JsonObject & { readonly type: 'object' }
}

/** A model's call, whose arguments are an object or its JSON text. */
export interface ModelCall {
  readonly id: string
  readonly name: string
  readonly input: unknown
}

/** A client's tools for models of any API. */
export interface ModelToolSet {
  readonly tools: readonly ModelTool[]
  call(call: Omit<ModelCall, 'id'>, options?: CallOptions): Promise<CallToolResult>
}

/** Reads what a model may call. Tools for pages alone (extensions/apps, visibility) are left out. */
export async function readModelTools(source: ToolSource): Promise<ModelToolSet> {
  checkArgument(source, { where: 'A list of tools for models', takes: 'a client', needs: ['listTools', 'callTool'] })
  const listedTools = withoutRepeated((await source.listTools()).filter((tool) => isToolFor('model', tool)))
  const names = assignNames(listedTools.map(({ name }) => name))
  const tools = listedTools.map((tool, index) => createModelTool(tool, names[index] ?? tool.name))
  const toolByName = new Map(tools.map((tool) => [tool.name, tool]))
  const earlierNames = updateEarlierNames(source, new Set(toolByName.keys()))
  return {
    tools,
    async call({ name, input }, options = {}) {
      const called = toolByName.get(name)
      if (called === undefined) return failedResult(describeMissingTool(name, earlierNames))
      const args = parseInput(input)
      if (args === undefined) return failedResult('The arguments are not a JSON object. Correct them, and try again.')
      try {
        return await source.callTool(called.original, called.restoreNames(args), options)
      } catch (error) {
        if (options.signal?.aborted === true || !isClientError(error)) throw error
        return errorResult(error)
      }
    },
  }
}

/** Model APIs refuse a request with two tools of one name, and a call could mean only one of them. */
function withoutRepeated(tools: readonly Tool[]): readonly Tool[] {
  const names = new Set<string>()
  return tools.filter(({ name }) => names.size < names.add(name).size)
}

const maxEarlierNames = 1000

const earlierNamesBySource = new WeakMap<ToolSource, { readonly listed: Set<string>; readonly missing: Set<string> }>()

/**
 * Finds names that a source listed earlier, and not now. A gateway leaves out the tools of an upstream that it cannot
 * reach, and a model still has them in its conversation.
 */
function updateEarlierNames(source: ToolSource, listed: Set<string>): ReadonlySet<string> {
  const earlier = earlierNamesBySource.get(source)
  const names = [...(earlier?.listed ?? []), ...(earlier?.missing ?? [])].filter((name) => !listed.has(name))
  const missing = new Set(names.slice(0, maxEarlierNames))
  earlierNamesBySource.set(source, { listed, missing })
  return missing
}

function describeMissingTool(name: string, earlierNames: ReadonlySet<string>): string {
  const quoted = JSON.stringify(name)
  if (!earlierNames.has(name)) return `There is no tool ${quoted}.`
  return `The tool ${quoted} is not available now, and was before. Go on without it, or try again later.`
}

/** Makes calls at the same time, with results in the same order. */
export async function runCalls<Result>(
  toolSet: ModelToolSet,
  calls: readonly ModelCall[],
  { options, toResult }: { options: CallOptions | undefined; toResult: (id: string, result: CallToolResult) => Result },
): Promise<Result[]> {
  return await Promise.all(calls.map(async (call) => toResult(call.id, await toolSet.call(call, options))))
}

/**
 * Makes a result for the model of a failed call: the error's message, whether the tool may have run, and whether to try
 * again.
 */
export function errorResult(error: ClientError): CallToolResult {
  return failedResult(`${error.message}\n${adviceOf(error)}`)
}

function failedResult(text: string): CallToolResult {
  return { resultType: 'complete', content: [{ type: 'text', text }], isError: true }
}

function adviceOf(error: ClientError): string {
  if (isLostQuestion(error))
    return 'The arguments were right. Find out what the tool has done before you call it again.'
  if (isUnknownTool(error)) return 'Take a name from the list of tools, which may have changed since you read it.'
  if (error.rpc?.code === errorCodes.invalidParams || error.code === 'invalid_arguments')
    return 'Correct the arguments before you try again.'
  if (isPermanent(error) || error.code === 'schema_refused') return 'Do not try again: the same call would fail again.'
  return isUncertain(error) ? 'The tool may have run. Find out before you try again.' : describePause(error)
}

function describePause(error: ClientError): string {
  const seconds = Math.ceil(retryAfterMsOf(error) / 1000)
  if (seconds === 0) return 'You can try again.'
  return `Try again after ${seconds} ${seconds === 1 ? 'second' : 'seconds'}.`
}

/** True if no tool has the called name, in the words of the specification (server/tools, error handling). */
function isUnknownTool({ rpc }: ClientError): boolean {
  return rpc?.code === errorCodes.invalidParams && /^unknown tool\b/i.test(rpc.message)
}

/** True if the server no longer knows the question that the user answered, for example after a restart. */
function isLostQuestion({ rpc }: ClientError): boolean {
  return isJsonObject(rpc?.data) && rpc.data['reason'] === 'requestState'
}

/**
 * True if the tool may have run with an unknown result. A server that answers with an error knows, unless that error is
 * about the last request alone and an earlier one may have run.
 */
function isUncertain(error: ClientError): boolean {
  const { mayHaveRun, rpc } = error
  if (!mayHaveRun || rpc === undefined || !isAnswered(error)) return mayHaveRun
  return !mayServerHaveRun(rpc) || (isJsonObject(rpc.data) && rpc.data['begun'] === true)
}

/** Gives each tool a name of letters, digits, `_` and `-`, as all model APIs accept it, and no name twice. */
function assignNames(names: readonly string[]): readonly string[] {
  const isPlain = (name: string): boolean => /^[a-zA-Z0-9_-]{1,64}$/.test(name)
  const takenNames = new Set(names.filter(isPlain))
  const counts = new Map<string, number>()
  return names.map((name) => {
    if (isPlain(name)) return name
    let candidate = name.replaceAll(/[^a-zA-Z0-9_-]/g, '_').slice(0, 64) || '_'
    // Leaves room for the number, which counts all names with this stem.
    const stem = candidate.slice(0, 56)
    while (takenNames.has(candidate)) {
      const count = (counts.get(stem) ?? 1) + 1
      counts.set(stem, count)
      candidate = `${stem}_${count}`
    }
    takenNames.add(candidate)
    return candidate
  })
}

function createModelTool(
  { name: original, title, description, inputSchema }: Tool,
  name: string,
): ModelTool & { readonly original: string; readonly restoreNames: (args: JsonObject) => JsonObject } {
  const { schema, note, restoreNames } = toModelSchema(inputSchema)
  const sentences = [description ?? title ?? original, note].filter((text) => text !== undefined && text !== '')
  const described = withWholeCharacters({ description: sentences.join(' '), schema: { ...schema, type: 'object' } })
  return { name, original, ...described, restoreNames }
}

/** Model APIs refuse a request with half of a surrogate pair, as of an emoji that was cut. */
function withWholeCharacters(described: Omit<ModelTool, 'name'>): Omit<ModelTool, 'name'> {
  let hasHalves = false
  const text = stringifyWellFormed(described, () => {
    hasHalves = true
  })
  return hasHalves ? JSON.parse(text) : described
}

function parseInput(input: unknown): JsonObject | undefined {
  if (typeof input === 'string') return input.trim() === '' ? {} : parseJsonObject(input)
  return isJsonObject(input) ? input : undefined
}
