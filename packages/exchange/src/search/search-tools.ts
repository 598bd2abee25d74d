import { isJsonObject, type JsonObject } from '@x/core'

/** What a call through one of the tools may do. */
export type DispatchKind = 'any' | 'read_only'

/** Characters of a query. Models write one sentence. */
// limit: search of tools | count | characters of a query | a result that says so
const maxQueryLength = 500
/** The longest name that a tool can have. */
const maxNameLength = 1000

const call = (description: string, annotations: JsonObject) => ({
  description,
  inputSchema: {
    type: 'object',
    properties: { name: { type: 'string' }, arguments: { type: 'object' } },
    required: ['name'],
  },
  annotations,
})

/** The tools that replace a long list, in the form of `tools/list`. */
export const searchTools = [
  {
    name: 'search_tools',
    description:
      'Finds tools of this server by what they do. Returns definitions, and names of more: search a name for its definition. If nothing fits, search again in other words.',
    inputSchema: {
      type: 'object',
      properties: { query: { type: 'string', description: 'An action and its object, such as "close an issue"' } },
      required: ['query'],
    },
    annotations: { readOnlyHint: true },
  },
  {
    name: 'call_read_only_tool',
    ...call('Calls a tool that search_tools found and whose annotations have readOnlyHint.', { readOnlyHint: true }),
  },
  { name: 'call_tool', ...call('Calls any tool that search_tools found.', { destructiveHint: true }) },
] as const satisfies readonly (JsonObject & { readonly name: string })[]

const [search, readOnly, any] = searchTools

/** The name of the tool that searches. */
export const searchName: string = search.name

/** The name of the tool that calls any other. */
export const callName: string = any.name

/** What the other tools of the search may call, by their names. */
export const dispatchKinds: ReadonlyMap<unknown, DispatchKind> = new Map<string, DispatchKind>([
  [readOnly.name, 'read_only'],
  [any.name, 'any'],
])

/** Returns the query, or what is wrong with the arguments of a search. */
export function readQuery(args: unknown): { readonly query: string } | { readonly problem: string } {
  const { query, ...others } = isJsonObject(args) ? args : {}
  if (typeof query !== 'string' || query.trim() === '' || query.length > maxQueryLength)
    return { problem: `query must be a text of 1 to ${maxQueryLength} characters` }
  return findUnknownMember(others, 'query') ?? { query }
}

/** Returns the tool to call and its arguments, or what is wrong with those of the call. */
export function readDispatch(
  args: unknown,
): { readonly name: string; readonly args: JsonObject | undefined } | { readonly problem: string } {
  const { name, arguments: toolArguments, ...others } = isJsonObject(args) ? args : {}
  // A header cannot repeat a name with half a surrogate pair.
  if (typeof name !== 'string' || name === '' || name.length > maxNameLength || /\p{Cs}/u.test(name))
    return { problem: `name must be the name of a tool, of 1 to ${maxNameLength} characters` }
  if (toolArguments !== undefined && !isJsonObject(toolArguments))
    return { problem: 'arguments must be an object with the arguments of the tool' }
  return findUnknownMember(others, 'name and arguments') ?? { name, args: toolArguments }
}

function findUnknownMember(others: JsonObject, known: string): { readonly problem: string } | undefined {
  if (Object.keys(others).length === 0) return undefined
  return { problem: `only ${known} can be given here: the arguments of a tool go into \`arguments\`` }
}
