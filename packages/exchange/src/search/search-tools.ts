import { isJsonObject, type JsonObject } from '@x/core'

/** Models write one sentence. */
// limit: search of tools | count | characters of a query | a result that says so
const maxQueryLength = 500
const maxNameLength = 1000

export const searchName = 'search_tools'
export const callName = 'call_tool'
const readOnlyName = 'call_read_only_tool'

const inputSchema = {
  type: 'object',
  properties: { name: { type: 'string' }, arguments: { type: 'object' } },
  required: ['name'],
}

/** Stand in for a long list, in the form of `tools/list`. */
export const searchTools: readonly (JsonObject & { readonly name: string })[] = [
  {
    name: searchName,
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
    name: readOnlyName,
    description: 'Calls a tool that search_tools found and whose annotations have readOnlyHint.',
    inputSchema,
    annotations: { readOnlyHint: true },
  },
  {
    name: callName,
    description: 'Calls any tool that search_tools found.',
    inputSchema,
    annotations: { destructiveHint: true },
  },
]

/** Tools that call others: true for one that calls only those that change nothing. */
export const isReadOnlyByName: ReadonlyMap<unknown, boolean> = new Map([
  [readOnlyName, true],
  [callName, false],
])

/** The query, or what is wrong with the arguments of a search. */
export function readQuery(args: unknown): { readonly query: string } | { readonly problem: string } {
  const { query, ...others } = isJsonObject(args) ? args : {}
  if (typeof query !== 'string' || query.trim() === '' || query.length > maxQueryLength)
    return { problem: `query must be a text of 1 to ${maxQueryLength} characters` }
  return findUnknownMember(others, 'query') ?? { query }
}

/** Which tool to call with which arguments, or what is wrong with those of the call. */
export function readDispatch(
  args: unknown,
): { readonly name: string; readonly args?: JsonObject } | { readonly problem: string } {
  const { name, arguments: toolArguments, ...others } = isJsonObject(args) ? args : {}
  // A header cannot repeat a name with half a surrogate pair.
  if (typeof name !== 'string' || name === '' || name.length > maxNameLength || /\p{Cs}/u.test(name))
    return { problem: `name must be the name of a tool, of 1 to ${maxNameLength} characters` }
  if (toolArguments !== undefined && !isJsonObject(toolArguments))
    return { problem: 'arguments must be an object with the arguments of the tool' }
  return findUnknownMember(others, 'name and arguments') ?? { name, ...(toolArguments && { args: toolArguments }) }
}

function findUnknownMember(others: JsonObject, known: string): { readonly problem: string } | undefined {
  if (Object.keys(others).length === 0) return undefined
  return { problem: `only ${known} can be given here: the arguments of a tool go into \`arguments\`` }
}
