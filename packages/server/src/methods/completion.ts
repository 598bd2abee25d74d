import { isReadonlyArray, quoteText } from '@x/core'
import { type CompleteRequestParams, type CompleteResult, errorCodes, McpError } from '@x/schema'
import { mapAwaitable, type Awaitable } from '../request/awaitable.ts'
import { findVisibleEntry } from '../compile/catalog.ts'
import { openRequestContext } from '../replay/open-context.ts'
import type { Completer, Completion } from '../definitions/base-definition.ts'
import type { ServedRequest } from '../replay/served-request.ts'

/** As many values as a result may have (server/utilities/completion, completion results). */
const maxCompletionValues = 100

const noArguments = Object.freeze({})
const emptyCompletion: Completion = Object.freeze({ values: Object.freeze([]) })

/** Suggests values for an argument of a prompt or a variable of a template (server/utilities/completion). */
export function completeArgument(params: CompleteRequestParams, request: ServedRequest): Awaitable<CompleteResult> {
  const { argument, context, ref } = params
  const completers = completersFor(ref, request)
  if (!completers.has(argument.name)) {
    const names = [...completers.keys()].join(', ') || 'none'
    throw invalidCompletionError(`There is no argument ${quoteText(argument.name)} to complete; there are: ${names}`)
  }
  const completer = completers.get(argument.name)
  if (completer === undefined) return toCompletionResult(emptyCompletion, request)
  const completionContext = { arguments: context?.arguments ?? noArguments, ctx: openRequestContext(request) }
  return mapAwaitable(completer(argument.value, completionContext), (suggestions) =>
    toCompletionResult(suggestions, request),
  )
}

function completersFor(
  ref: CompleteRequestParams['ref'],
  { catalog, call }: ServedRequest,
): ReadonlyMap<string, Completer | undefined> {
  const isPrompt = ref.type === 'ref/prompt'
  const entry = isPrompt
    ? findVisibleEntry(catalog.prompts, ref.name, call)
    : findVisibleEntry(catalog.templates, ref.uri, call)
  if (entry !== undefined) return entry.completers
  throw invalidCompletionError(
    isPrompt ? `Unknown prompt: ${quoteText(ref.name)}` : `Unknown resource template: ${quoteText(ref.uri)}`,
  )
}

function toCompletionResult(suggestions: readonly string[] | Completion, { catalog }: ServedRequest): CompleteResult {
  const { values, total, hasMore } = isReadonlyArray(suggestions)
    ? { values: suggestions, total: suggestions.length }
    : suggestions
  const hasMoreValues = hasMore ?? (values.length > maxCompletionValues || (total ?? 0) > values.length)
  return {
    resultType: 'complete',
    completion: {
      values: values.slice(0, maxCompletionValues),
      ...(total !== undefined && { total }),
      hasMore: hasMoreValues,
    },
    _meta: catalog.resultMeta,
  }
}

function invalidCompletionError(message: string): McpError {
  return new McpError(errorCodes.invalidParams, message)
}
